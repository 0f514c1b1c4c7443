internal import FoundationEssentials
internal import JSON

/// Jobs that pass from one node to another while their process runs.
extension JobStore {
  /// Offers a job to the other nodes.
  ///
  /// - Returns: whether the attempt is still the newest of its job, and has a process.
  package func offer(_ job: JobID, attempt attemptID: String) async throws -> Bool {
    try await !connection.execute(
      """
      UPDATE jobs SET handover_at = now_ms()
      WHERE id = $1 AND attempt_id = $2 AND state IN ('starting', 'running') AND stop_reason IS NULL RETURNING id
      """, [job.value, .text(attemptID)]
    ).isEmpty
  }

  /// Withdraws an offer that no node has taken.
  ///
  /// - Returns: false if a node has taken it.
  package func withdraw(_ job: JobID, attempt attemptID: String) async throws -> Bool {
    try await !connection.execute(
      "UPDATE jobs SET handover_at = NULL WHERE id = $1 AND attempt_id = $2 RETURNING id",
      [job.value, .text(attemptID)]
    ).isEmpty
  }

  /// The newest attempt of a job, as a node sees it that had the job.
  package struct Successor: Sendable, Hashable {
    package var node: String?
    package var attemptID: String?
    /// Whether the room was joined.
    package var hasJoined: Bool
    /// The users of whom the attempt has video.
    package var keyframes: Set<String>
    /// Whether the job has ended, or ends.
    package var isOver: Bool
  }

  package func successor(of job: JobID) async throws -> Successor? {
    let rows = try await connection.execute(
      """
      SELECT jobs.node AS node, jobs.attempt_id AS attempt_id, jobs.state AS state, attempts.joined_at AS joined_at,
        attempts.keyframes AS keyframes
      FROM jobs LEFT JOIN attempts ON attempts.job = jobs.id AND attempts.attempt_id = jobs.attempt_id WHERE jobs.id = $1
      """, [job.value])
    guard let row = rows.first else { return nil }
    let state = JobState(rawValue: try row.text("state"))
    let users = try row.optionalText("keyframes").flatMap { text in
      try? JSONReader.decode([String].self, from: text, within: Self.keyframeLimits)
    }
    return Successor(
      node: try row.optionalText("node"), attemptID: try row.optionalText("attempt_id"),
      hasJoined: try row.optionalInteger("joined_at") != nil, keyframes: Set(users ?? []),
      isOver: state.map { $0.isEnded || $0 == .storing || $0 == .stopping } ?? true)
  }

  private static let keyframeLimits = JSONLimits(bytes: 1 << 20, values: 20_000)
  private static let eventLimits = JSONLimits(bytes: 1 << 20, values: 20_000, depth: 16, nameRunOutsideASCII: 256)

  /// Writes of which users an attempt has video.
  ///
  /// - Returns: whether the attempt is still the newest of its job.
  package func noteKeyframes(_ users: [String], of job: JobID, attempt attemptID: String) async throws -> Bool {
    let text = String(decoding: try JSONEncoder().encode(users), as: UTF8.self)
    return try await !connection.execute(
      """
      UPDATE attempts SET keyframes = $3 WHERE job = $1 AND attempt_id = $2
        AND EXISTS (SELECT 1 FROM jobs WHERE jobs.id = $1 AND jobs.attempt_id = $2) RETURNING job
      """, [job.value, .text(attemptID), .text(text)]
    ).isEmpty
  }

  // MARK: What attempts leave behind

  /// Notes that all files of an attempt are stored.
  ///
  /// - Parameter description: what is known of it, a JSON object.
  package func noteStored(_ attempt: AttemptRecord, description: String) async throws {
    try await connection.execute(
      """
      UPDATE attempts SET stored_at = now_ms(), description = $3, ended_at = COALESCE(ended_at, now_ms())
      WHERE job = $1 AND attempt_id = $2 AND stored_at IS NULL
      """, [attempt.job.value, .text(attempt.attemptID), .text(description)])
  }

  /// Notes that another document describes a recording, in one transaction with the event `recording.amended`.
  ///
  /// - Parameters:
  ///   - number: from 2; that of the document is in its name.
  ///   - event: the data of the event, a JSON object.
  /// - Returns: false if a document with this number was noted before.
  @discardableResult
  package func noteAmendment(
    of job: JobID, number: Int64, event: String, check: @escaping @Sendable () throws -> Void = {}
  ) async throws -> Bool {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        "UPDATE jobs SET amendments = amendments + 1 WHERE id = $1 AND amendments = $2 - 2 RETURNING id",
        [job.value, .integer(number)])
      if !rows.isEmpty { try transaction.append(.recordingAmended, of: job, data: event) }
      try check()
      return !rows.isEmpty
    }
  }

  /// A user who was in the room of an attempt, as the events of the job say it.
  package struct Participant: Sendable, Hashable {
    package var user: String
    package var name: String?
    /// Milliseconds since 1970.
    package var joined: Int64
    package var left: Int64?
  }

  /// Returns who was in the room of an attempt. For attempts whose journal cannot be had.
  package func participants(of job: JobID, attempt: Int64) async throws -> [Participant] {
    struct Fields: Decodable {
      var attempt: Int64
      var user: String
      var name: String?
    }
    let rows = try await connection.execute(
      "SELECT type, time, data FROM events WHERE job = $1 AND type IN ($2, $3) ORDER BY sequence",
      [
        job.value, .text(JobEventType.participantJoined.rawValue), .text(JobEventType.participantLeft.rawValue),
      ])
    var participants: [Participant] = []
    var present: [String: Int] = [:]
    for row in rows {
      let (time, data) = (try row.integer("time"), try row.text("data"))
      guard let fields = try? JSONReader.decode(Fields.self, from: data, within: Self.eventLimits),
        fields.attempt == attempt
      else { continue }
      if try row.text("type") == JobEventType.participantJoined.rawValue {
        guard present[fields.user] == nil else { continue }
        present[fields.user] = participants.count
        participants.append(Participant(user: fields.user, name: fields.name, joined: time))
      } else if let index = present.removeValue(forKey: fields.user) {
        participants[index].left = time
      }
    }
    return participants
  }
}
