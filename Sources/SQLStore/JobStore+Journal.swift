internal import FoundationEssentials
package import JobProtocol

extension JobStore {
  /// Writes the events of journal entries, and how far the journal was read, in one transaction. Entries that were written before
  /// have no effect.
  ///
  /// - Parameter entries: in their order, without holes.
  /// - Returns: whether the attempt is still the newest of its job.
  package func append(_ entries: [JournalEntry], of job: JobID, attempt attemptID: String) async throws -> Bool {
    try await connection.transaction { transaction in
      // Nobody takes the job over before what its process wrote is in the database.
      let rows = try transaction.execute(
        """
        SELECT attempts.number AS number, attempts.journal_seq AS journal_seq FROM jobs
        JOIN attempts ON attempts.job = jobs.id AND attempts.attempt_id = jobs.attempt_id
        WHERE attempts.job = $1 AND attempts.attempt_id = $2 \(transaction.dialect.forUpdate)
        """,
        [job.value, .text(attemptID)])
      guard let row = rows.first else { return false }
      let number = try row.integer("number")
      var last = try row.integer("journal_seq")
      for entry in entries where entry.seq > last {
        try Self.append(entry, attempt: number, of: job, in: transaction)
        last = entry.seq
      }
      try transaction.execute(
        "UPDATE attempts SET journal_seq = $3 WHERE job = $1 AND attempt_id = $2",
        [job.value, .text(attemptID), .integer(last)])
      return true
    }
  }

  private static func append(
    _ entry: JournalEntry, attempt: Int64, of job: JobID, in transaction: any SQLTransaction
  ) throws {
    let attemptField: [String: EventData] = ["attempt": .integer(attempt)]
    func append(_ type: JobEventType, _ fields: [String: EventData]) throws {
      try transaction.append(type, of: job, data: try EventData.text(fields.merging(attemptField) { $1 }))
    }
    switch entry.event {
    case .started(let started):
      try transaction.execute(
        "UPDATE attempts SET version = $3 WHERE job = $1 AND number = $2",
        [job.value, .integer(attempt), .text(started.version)])
    case .joined:
      try transaction.execute(
        "UPDATE attempts SET joined_at = COALESCE(joined_at, now_ms()) WHERE job = $1 AND number = $2",
        [job.value, .integer(attempt)])
      let first = try transaction.execute(
        "UPDATE jobs SET started_at = now_ms() WHERE id = $1 AND started_at IS NULL RETURNING id", [job.value])
      if !first.isEmpty { try append(.jobStarted, [:]) }
    case .participantJoined(let participant): try append(.participantJoined, fields(of: participant))
    case .participantLeft(let participant): try append(.participantLeft, fields(of: participant))
    case .paused(let change): try append(.recordingPaused, fields(of: change))
    case .resumed(let change): try append(.recordingResumed, fields(of: change))
    case .stalled(let user, let since):
      try append(.jobStalled, ["user": .text(user), "since": since.map { .integer($0) } ?? .null])
    // The files of an attempt become events when they are stored.
    case .fileClosed, .problem, .ended, .other: break
    }
  }

  private static func fields(of participant: JournalEvent.Participant) -> [String: EventData] {
    var fields: [String: EventData] = ["user": .text(participant.user)]
    if let name = participant.name { fields["name"] = .text(name) }
    return fields
  }

  private static func fields(of change: JournalEvent.PauseChange) -> [String: EventData] {
    [
      "users": change.users.map { .list($0.map { .text($0) }) } ?? .null,
      "effectiveAt": .integer(change.effectiveAt),
    ]
  }
}

extension PauseState {
  /// The JSON of the column `paused`.
  package var databaseText: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}

/// A value in the data of an event.
enum EventData: Encodable {
  case null
  case integer(Int64)
  case text(String)
  case list([EventData])

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .integer(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let values): try container.encode(values)
    }
  }

  /// A JSON object.
  static func text(_ fields: [String: EventData]) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(fields), as: UTF8.self)
  }
}
