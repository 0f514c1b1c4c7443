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
  /// The node that has the job; nil before one has claimed it.
  package var node: String?
  /// Until when no other node takes it.
  package var leaseUntil: Int64?
  /// When its node offered it to the others; nil if it did not.
  package var handoverAt: Int64?
  /// How many documents describe the recording after `recording.json`.
  package var amendments: Int64

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
    node = try row.optionalText("node")
    leaseUntil = try row.optionalInteger("lease_until")
    handoverAt = try row.optionalInteger("handover_at")
    amendments = try row.integer("amendments")
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
  /// The node that has its folder; nil for attempts of before there were nodes.
  package var node: String?
  /// The clock of the node less that of the database when the attempt began, and how wrong that may be, in milliseconds.
  package var clockOffset: Int64?
  package var clockError: Int64?
  /// Whether another node took the job because the lease of this one had ended.
  package var isTakenOver: Bool
  /// When the last of its files was stored; nil until then.
  package var storedAt: Int64?
  /// What was known of it then, a JSON object.
  package var description: String?

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
    node = try row.optionalText("node")
    clockOffset = try row.optionalInteger("clock_offset")
    clockError = try row.optionalInteger("clock_error")
    isTakenOver = try row.truth("taken_over")
    storedAt = try row.optionalInteger("stored_at")
    description = try row.optionalText("description")
  }
}
