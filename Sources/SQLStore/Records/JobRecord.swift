/// The state of a job. A job is never in a state before one that it has left, but for `queued`, `starting` and `running`: a new
/// attempt begins with `starting`.
package enum JobState: String, Sendable, Hashable, CaseIterable, Codable {
  case scheduled
  case queued
  case starting
  case running
  case stopping
  case storing
  case finished
  case failed
  case cancelled

  /// Whether the job has ended. It has `ended_at` then, and no secrets.
  package var isEnded: Bool {
    switch self {
    case .scheduled, .queued, .starting, .running, .stopping, .storing: false
    case .finished, .failed, .cancelled: true
    }
  }
}

/// A row of `jobs`. Times are milliseconds since 1970 by the clock of the database.
package struct JobRecord: Sendable, Hashable {
  package var id: JobID
  package var project: String
  /// As in `JobKind`.
  package var kind: String
  package var state: JobState
  /// A `PauseState` as JSON.
  package var paused: String
  /// What was submitted, as JSON, without secrets.
  package var request: String
  package var room: String
  package var server: String
  package var uniqueKey: String?
  package var createdAt: Int64
  package var startAt: Int64?
  package var queueUntil: Int64?
  package var startedAt: Int64?
  package var endedAt: Int64?
  /// Why the job was asked to end, as in `JobEndReason`; nil until it is.
  package var stopReason: String?
  /// Why it ended, as in `JobEndReason`.
  package var reason: String?
  package var sentence: String?
  /// The number of the newest attempt, from 1; 0 before the first one.
  package var attempt: Int64
  package var attemptID: String?
  package var attemptStartedAt: Int64?
  /// The attempts in a row that lived for less than a minute.
  package var failures: Int64
  package var nextAttemptAt: Int64?
  package var stalled: Bool
  /// Encrypted; nil when the job has ended, or has none.
  package var secrets: [UInt8]?
  /// The prefix of the recording's keys in the object store, without a slash at the end; nil before the first file is stored.
  package var objectPath: String?
  package var manifestStoredAt: Int64?
  package var deleteRequestedAt: Int64?
  package var deleted: Bool
  /// The `sequence` of the newest event.
  package var eventSequence: Int64

  /// - Parameter row: has all columns of `jobs`.
  package init(_ row: SQLRow) throws(SQLError) {
    id = try JobID(column: "id", of: row)
    project = try row.text("project")
    kind = try row.text("kind")
    guard let state = JobState(rawValue: try row.text("state")) else { throw .unexpected("state", row["state"]) }
    self.state = state
    paused = try row.text("paused")
    request = try row.text("request")
    room = try row.text("room")
    server = try row.text("server")
    uniqueKey = try row.optionalText("unique_key")
    createdAt = try row.integer("created_at")
    startAt = try row.optionalInteger("start_at")
    queueUntil = try row.optionalInteger("queue_until")
    startedAt = try row.optionalInteger("started_at")
    endedAt = try row.optionalInteger("ended_at")
    stopReason = try row.optionalText("stop_reason")
    reason = try row.optionalText("reason")
    sentence = try row.optionalText("sentence")
    attempt = try row.integer("attempt")
    attemptID = try row.optionalText("attempt_id")
    attemptStartedAt = try row.optionalInteger("attempt_started_at")
    failures = try row.integer("failures")
    nextAttemptAt = try row.optionalInteger("next_attempt_at")
    stalled = try row.truth("stalled")
    secrets = try row.optionalBlob("secrets")
    objectPath = try row.optionalText("object_path")
    manifestStoredAt = try row.optionalInteger("manifest_stored_at")
    deleteRequestedAt = try row.optionalInteger("delete_requested_at")
    deleted = try row.truth("deleted")
    eventSequence = try row.integer("event_sequence")
  }
}

/// A row of `attempts`.
package struct AttemptRecord: Sendable, Hashable {
  package var job: JobID
  /// From 1.
  package var number: Int64
  package var attemptID: String
  /// The version of the program that the attempt ran.
  package var version: String
  /// The path of its folder, below the data folder.
  package var folder: String
  /// The last line of its journal whose effect is in the database; 0 before the first one.
  package var journalSequence: Int64
  package var startedAt: Int64
  package var endedAt: Int64?
  /// How it ended; nil while it lives.
  package var how: String?

  /// - Parameter row: has all columns of `attempts`.
  package init(_ row: SQLRow) throws(SQLError) {
    job = try JobID(column: "job", of: row)
    number = try row.integer("number")
    attemptID = try row.text("attempt_id")
    version = try row.text("version")
    folder = try row.text("folder")
    journalSequence = try row.integer("journal_seq")
    startedAt = try row.integer("started_at")
    endedAt = try row.optionalInteger("ended_at")
    how = try row.optionalText("how")
  }
}
