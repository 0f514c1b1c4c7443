/// What a job does in a room; `kind` of a specification.
package enum JobKind: String, Sendable, Hashable, CaseIterable, Codable {
  /// Records every user.
  case record
  /// Plays the test pattern or a file.
  case play
  /// Sends each user's media back to them.
  case loopback
  /// Measures whether the call works.
  case check
}

/// The interface between a job process and what supervises it.
package enum JobProtocol {
  /// Raised when a field is removed or changes its meaning. Fields and types of messages are only added.
  package static let version = 1
}

/// The files of a job's folder.
package enum JobFolder {
  /// What the job is to do, written before the process starts: a ``JobSpecification``.
  package static let specification = "spec.json"
  /// Locked with `flock` while the process lives.
  package static let lock = "lock"
  /// The Unix socket of ``ControlRequest`` and ``ControlAnswer``.
  package static let control = "control"
  /// One ``JournalEntry`` a line.
  package static let journal = "journal.ndjson"
  /// The log, one JSON object a line.
  package static let log = "log.ndjson"
  /// The folder of recordings, chat and reports.
  package static let media = "media"

  /// The maximum size of ``log`` in bytes; then the oldest half is dropped.
  package static let maximumLogBytes = 20 << 20
  /// The size of ``journal`` in bytes above which entries of the type `problem` are dropped and counted.
  package static let maximumJournalBytes = 64 << 20
}
