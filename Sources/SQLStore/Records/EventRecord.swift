/// The types of events, as the API names them.
package enum JobEventType: String, Sendable, Hashable, CaseIterable {
  case jobStarted = "job.started"
  case jobStalled = "job.stalled"
  case jobRestarted = "job.restarted"
  case participantJoined = "participant.joined"
  case participantLeft = "participant.left"
  case recordingPaused = "recording.paused"
  case recordingResumed = "recording.resumed"
  case recordingFile = "recording.file"
  /// Another content has the key of a file, which got another one.
  case recordingConflict = "recording.conflict"
  case recordingFinished = "recording.finished"
  case recordingAmended = "recording.amended"
  case recordingDeleted = "recording.deleted"
  case jobFinished = "job.finished"
  case jobFailed = "job.failed"
  case jobCancelled = "job.cancelled"
}

/// A row of `events`.
package struct EventRecord: Sendable, Hashable {
  /// Grows with each event of the database, in the order in which the events were committed.
  package var id: Int64
  package var project: String
  package var job: JobID
  /// From 1 without holes for each job.
  package var sequence: Int64
  /// A ``JobEventType``, or one of the next version.
  package var type: String
  package var time: Int64
  /// A JSON object.
  package var data: String

  /// - Parameter row: has all columns of `events`.
  package init(_ row: SQLRow) throws(SQLError) {
    id = try row.integer("id")
    project = try row.text("project")
    job = try JobID(column: "job", of: row)
    sequence = try row.integer("sequence")
    type = try row.text("type")
    time = try row.integer("time")
    data = try row.text("data")
  }
}

extension SQLTransaction {
  /// Appends an event of a job, with its deliveries to the job's receivers.
  ///
  /// - Parameter data: a JSON object.
  /// - Returns: the event; nil if there is no such job.
  @discardableResult
  package func append(_ type: JobEventType, of job: JobID, data: String = "{}") throws -> EventRecord? {
    let numbers = try execute(
      "UPDATE jobs SET event_sequence = event_sequence + 1 WHERE id = $1 RETURNING event_sequence, project, attempt",
      [job.value])
    guard let numbers = numbers.first else { return nil }
    let rows = try execute(
      """
      INSERT INTO events (id, project, job, sequence, type, time, data)
      VALUES ($1, $2, $3, $4, $5, now_ms(), $6) RETURNING *
      """,
      [
        .integer(try next(.events)), .text(try numbers.text("project")), job.value,
        .integer(try numbers.integer("event_sequence")), .text(type.rawValue), .text(data),
      ])
    guard let event = try rows.first.map({ try EventRecord($0) }) else { return nil }
    try insertDeliveries(of: event, attempt: try numbers.integer("attempt"))
    return event
  }
}
