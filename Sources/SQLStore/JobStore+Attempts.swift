package import JobProtocol

/// What the supervisor writes. Each write of an attempt takes effect only while the attempt is the newest of its job; if it is not,
/// another service has taken the job, and the call returns false.
extension JobStore {
  /// Returns the clock of the database, in milliseconds since 1970.
  package func now() async throws -> Int64 {
    try await connection.execute("SELECT now_ms() AS now").first?.integer("now") ?? 0
  }

  package func job(_ id: JobID) async throws -> JobRecord? {
    try await connection.execute("SELECT * FROM jobs WHERE id = $1", [id.value]).first.map { try JobRecord($0) }
  }

  /// Returns all jobs that have not ended, the oldest first.
  package func unfinishedJobs() async throws -> [JobRecord] {
    try await connection.execute(
      """
      SELECT * FROM jobs WHERE state IN ('scheduled', 'queued', 'starting', 'running', 'stopping', 'storing')
      ORDER BY created_at, id
      """
    ).map { try JobRecord($0) }
  }

  /// Writes that a job waits for capacity.
  package func queue(_ job: JobID) async throws {
    try await connection.execute(
      "UPDATE jobs SET state = 'queued' WHERE id = $1 AND attempt = 0 AND state IN ('scheduled', 'starting')",
      [job.value])
  }

  /// The condition that the newest attempt of a job is one: the parameter is its id, empty before the first one, or `*` for any.
  private static func isNewest(_ parameter: String) -> String {
    "(\(parameter) = '*' OR COALESCE(attempt_id, '') = \(parameter))"
  }

  // MARK: Attempts

  /// Begins the next attempt of a job. A second call changes nothing.
  ///
  /// - Parameters:
  ///   - number: one more than that of the attempt before.
  ///   - restartOf: how the attempt before ended, a clause; nil for the first one.
  ///   - claimant: the node that begins it, if there are nodes.
  package func beginAttempt(
    _ number: Int, of job: JobID, id attemptID: String, version: String, folder: String, restartOf: String?,
    claimant: Claimant? = nil
  ) async throws -> Bool {
    try await connection.transaction { [lease] transaction in
      let changed = try transaction.execute(
        """
        UPDATE jobs SET attempt = $2, attempt_id = $3, attempt_started_at = now_ms(), next_attempt_at = NULL, stalled = 0,
          node = COALESCE($4, node), lease_until = now_ms() + $5, handover_at = NULL,
          state = CASE WHEN state = 'stopping' THEN 'stopping' ELSE 'starting' END
        WHERE id = $1 AND attempt = $2 - 1 AND ended_at IS NULL RETURNING id
        """,
        [job.value, .integer(number), .text(attemptID), .text(claimant?.node), .integer(lease)])
      guard !changed.isEmpty else {
        // The answer to an earlier call may have been lost, which had begun it.
        return try !transaction.execute(
          """
          SELECT attempts.number FROM attempts JOIN jobs ON jobs.id = attempts.job AND jobs.attempt_id = attempts.attempt_id
          WHERE attempts.job = $1 AND attempts.number = $2 AND attempts.attempt_id = $3 AND jobs.ended_at IS NULL
          """, [job.value, .integer(number), .text(attemptID)]
        ).isEmpty
      }
      try transaction.execute(
        """
        INSERT INTO attempts (job, number, attempt_id, version, folder, started_at, node, clock_offset, clock_error)
        VALUES ($1, $2, $3, $4, $5, now_ms(), $6, $7, $8)
        """,
        [
          job.value, .integer(number), .text(attemptID), .text(version), .text(folder), .text(claimant?.node),
          .integer(claimant?.clockOffset), .integer(claimant?.clockError),
        ])
      if let restartOf {
        try transaction.append(
          .jobRestarted, of: job,
          data: EventData.text(["attempt": .integer(Int64(number)), "previousAttempt": .text(restartOf)]))
      }
      return true
    }
  }

  /// Writes that the room is joined and the process answers.
  package func markRunning(_ job: JobID, attempt attemptID: String) async throws -> Bool {
    try await change(
      """
      UPDATE jobs SET state = CASE WHEN state = 'starting' THEN 'running' ELSE state END
      WHERE id = $1 AND attempt_id = $2 RETURNING id
      """,
      [job.value, .text(attemptID)])
  }

  /// Writes why a job is asked to end; the first reason remains.
  ///
  /// - Parameter attempt: the newest attempt that the caller knows, empty before the first one; nil for any.
  package func markStopping(_ job: JobID, _ reason: JobEndReason, attempt: String? = nil) async throws {
    try await connection.execute(
      """
      UPDATE jobs SET state = 'stopping', stop_reason = COALESCE(stop_reason, $2)
      WHERE id = $1 AND state IN ('scheduled', 'queued', 'starting', 'running') AND \(Self.isNewest("$3"))
      """,
      [job.value, .text(reason.rawValue), .text(attempt ?? "*")])
  }

  package func markStalled(_ job: JobID, attempt attemptID: String, _ isStalled: Bool) async throws -> Bool {
    try await change(
      "UPDATE jobs SET stalled = $3 WHERE id = $1 AND attempt_id = $2 RETURNING id",
      [job.value, .text(attemptID), .truth(isStalled)])
  }

  /// Writes how an attempt ended.
  ///
  /// - Parameter nextAfter: when the next one begins, in milliseconds from now; nil if none follows.
  package func endAttempt(
    _ attemptID: String, of job: JobID, how: String, failures: Int, nextAfter: Int64?
  ) async throws -> Bool {
    try await connection.transaction { transaction in
      let changed = try transaction.execute(
        """
        UPDATE jobs SET failures = $3, next_attempt_at = now_ms() + $4, stalled = 0,
          state = CASE WHEN state = 'running' THEN 'starting' ELSE state END
        WHERE id = $1 AND attempt_id = $2 RETURNING id
        """,
        [job.value, .text(attemptID), .integer(failures), .integer(nextAfter)])
      guard !changed.isEmpty else { return false }
      try transaction.execute(
        "UPDATE attempts SET ended_at = now_ms(), how = $3 WHERE job = $1 AND attempt_id = $2 AND ended_at IS NULL",
        [job.value, .text(attemptID), .text(how)])
      return true
    }
  }

  /// Whether a user was ever in the room of a job.
  package func hadParticipants(_ job: JobID) async throws -> Bool {
    try await !connection.execute(
      "SELECT 1 AS one FROM events WHERE job = $1 AND type = $2 LIMIT 1",
      [job.value, .text(JobEventType.participantJoined.rawValue)]
    ).isEmpty
  }

  /// Returns the data of the events of the users who joined a job's room last, newest first, each a JSON object.
  package func joinedParticipants(of job: JobID) async throws -> [String] {
    try await connection.execute(
      "SELECT data FROM events WHERE job = $1 AND type = $2 ORDER BY sequence DESC LIMIT 10000",
      [job.value, .text(JobEventType.participantJoined.rawValue)]
    ).map { try $0.text("data") }
  }

  // MARK: Pause

  /// Writes who is paused.
  ///
  /// - Parameter attempt: the newest attempt that the caller knows, empty before the first one; nil for any.
  /// - Returns: false if the job has ended or has a newer attempt.
  @discardableResult
  package func setPause(_ state: PauseState, of job: JobID, attempt: String? = nil) async throws -> Bool {
    try await change(
      "UPDATE jobs SET paused = $2 WHERE id = $1 AND ended_at IS NULL AND \(Self.isNewest("$3")) RETURNING id",
      [job.value, .text(try state.databaseText), .text(attempt ?? "*")])
  }

  // MARK: Ends

  /// Writes that the files of a job are being stored, and why it ends.
  ///
  /// - Parameter attempt: the newest attempt that the caller knows, empty before the first one; nil for any.
  /// - Returns: false if the job has ended or has a newer attempt.
  @discardableResult
  package func beginStoring(
    _ job: JobID, _ reason: JobEndReason, sentence: String, attempt: String? = nil
  ) async throws -> Bool {
    try await change(
      """
      UPDATE jobs SET state = 'storing', reason = $2, sentence = $3, next_attempt_at = NULL, stalled = 0, handover_at = NULL
      WHERE id = $1 AND ended_at IS NULL AND \(Self.isNewest("$4")) RETURNING id
      """,
      [job.value, .text(reason.rawValue), .text(sentence), .text(attempt ?? "*")])
  }

  /// Ends a job with its last event, and deletes its secrets.
  ///
  /// - Parameters:
  ///   - state: `finished`, `failed` or `cancelled`.
  ///   - attempt: the newest attempt that the caller knows, empty before the first one; nil for any.
  package func finish(
    _ job: JobID, _ state: JobState, _ reason: JobEndReason, sentence: String, attempt: String? = nil
  ) async throws {
    try await connection.transaction { transaction in
      try Self.finish(job, state, reason, sentence: sentence, attempt: attempt, in: transaction)
    }
  }

  static func finish(
    _ job: JobID, _ state: JobState, _ reason: JobEndReason, sentence: String, attempt: String?,
    in transaction: any SQLTransaction
  ) throws {
    guard state.isEnded else { return }
    let changed = try transaction.execute(
      """
      UPDATE jobs SET state = $2, reason = $3, sentence = $4, ended_at = now_ms(), secrets = NULL, next_attempt_at = NULL,
        stalled = 0, handover_at = NULL
      WHERE id = $1 AND ended_at IS NULL AND \(isNewest("$5")) RETURNING id
      """,
      [
        job.value, .text(state.rawValue), .text(reason.rawValue), .text(sentence), .text(attempt ?? "*"),
      ])
    guard !changed.isEmpty else { return }
    let type: JobEventType =
      switch state {
      case .failed: .jobFailed
      case .cancelled: .jobCancelled
      default: .jobFinished
      }
    try transaction.append(
      type, of: job, data: EventData.text(["reason": .text(reason.rawValue), "sentence": .text(sentence)]))
  }

  // MARK: Commands

  /// Returns commands that are not done, in their order.
  ///
  /// - Parameter job: of this job; nil for all jobs.
  package func waitingCommands(of job: JobID? = nil, limit: Int = 1_000) async throws -> [CommandRecord] {
    let rows =
      if let job {
        try await connection.execute(
          "SELECT * FROM commands WHERE done_at IS NULL AND job = $1 ORDER BY id LIMIT $2",
          [job.value, .integer(limit)])
      } else {
        try await connection.execute(
          "SELECT * FROM commands WHERE done_at IS NULL ORDER BY id LIMIT $1", [.integer(limit)])
      }
    return try rows.map { try CommandRecord($0) }
  }

  /// Writes the result of a command; only the first one remains.
  ///
  /// - Parameters:
  ///   - result: a JSON object.
  ///   - attempt: the newest attempt that the caller knows, empty before the first one; nil for any.
  /// - Returns: false if it was written before, or the job has a newer attempt: the command waits for the node that has it.
  @discardableResult
  package func complete(_ command: Int64, result: String, attempt: String? = nil) async throws -> Bool {
    try await change(
      """
      UPDATE commands SET done_at = now_ms(), result = $2 WHERE id = $1 AND done_at IS NULL AND EXISTS (
        SELECT 1 FROM jobs WHERE jobs.id = commands.job AND (ended_at IS NOT NULL OR \(Self.isNewest("$3")))) RETURNING id
      """, [.integer(command), .text(result), .text(attempt ?? "*")])
  }

  private func change(_ statement: String, _ parameters: [SQLValue]) async throws -> Bool {
    try await !connection.execute(statement, parameters).isEmpty
  }
}
