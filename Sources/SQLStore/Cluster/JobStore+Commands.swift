internal import JSON
package import JobProtocol

/// Commands where several nodes use the database: the node that has a job carries them out.
extension JobStore {
  /// Returns commands that are not done, in their order, of jobs that a node has, that no node has, or that have ended.
  package func waitingCommands(node: String, limit: Int = 1_000) async throws -> [CommandRecord] {
    try await connection.execute(
      """
      SELECT commands.* FROM commands JOIN jobs ON jobs.id = commands.job
      WHERE commands.done_at IS NULL AND (COALESCE(jobs.node, $1) = $1 OR jobs.ended_at IS NOT NULL)
      ORDER BY commands.id LIMIT $2
      """, [.text(node), .integer(limit)]
    ).map { try CommandRecord($0) }
  }

  private static let pauseLimits = JSONLimits(bytes: 8 << 20, values: 10_000)

  /// A change of a job that no process runs for.
  package enum IdleChange: Sendable, Hashable {
    case stop
    /// Nil: all users.
    case pause([String]?)
    case resume([String]?)
  }

  /// Carries out a command on a job that no node has.
  ///
  /// - Parameters:
  ///   - result: the result of the command, a JSON object, from the time of the database.
  ///   - failure: the result for a pause with too many users.
  /// - Returns: false if a node has the job, or it has ended: the command is not done.
  package func carryOut(
    _ change: IdleChange, command: Int64, of job: JobID, result: @escaping @Sendable (Int64) throws -> String,
    failure: String
  ) async throws -> Bool {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        """
        SELECT * FROM jobs WHERE id = $1 AND node IS NULL AND attempt = 0 AND ended_at IS NULL \(transaction.dialect.forUpdate)
        """, [job.value])
      guard let row = rows.first else { return false }
      var text = try result(try transaction.now)
      switch change {
      case .stop:
        try Self.finish(job, .cancelled, .stopped, sentence: "The job was stopped.", attempt: nil, in: transaction)
      case .pause(let users), .resume(let users):
        let stored = try row.text("paused")
        // What cannot be read pauses everybody.
        var state =
          (try? JSONReader.decode(PauseState.self, from: stored, within: Self.pauseLimits)) ?? PauseState(all: true)
        if case .pause = change { state.pause(users) } else { state.resume(users) }
        if state.isWithinLimits {
          try transaction.execute(
            "UPDATE jobs SET paused = $2 WHERE id = $1", [job.value, .text(try state.databaseText)])
        } else {
          text = failure
        }
      }
      try transaction.execute(
        "UPDATE commands SET done_at = now_ms(), result = $2 WHERE id = $1 AND done_at IS NULL",
        [.integer(command), .text(text)])
      return true
    }
  }

  /// Notes a command that a node carried out while it could not reach the database.
  ///
  /// - Parameters:
  ///   - attemptID: the newest attempt of the job when it was carried out, empty before the first one.
  ///   - paused: who is paused since; nil if the command changed nothing of that.
  ///   - result: a JSON object; nil if it is not known whether the command was carried out: it waits, to be carried out again.
  /// - Returns: whether the node still has the job. Otherwise the command waits for the node that has it.
  package func noteLocal(
    _ kind: CommandRecord.Kind, of job: JobID, attempt attemptID: String, argument: String, paused: PauseState?,
    result: String?
  ) async throws -> Bool {
    try await connection.transaction { transaction in
      let rows = try transaction.execute(
        "SELECT COALESCE(attempt_id, '') AS attempt_id, ended_at FROM jobs WHERE id = $1 \(transaction.dialect.forUpdate)",
        [job.value])
      guard let row = rows.first else { return true }
      let isOwn = try row.text("attempt_id") == attemptID
      let isOver = try row.optionalInteger("ended_at") != nil
      if isOwn, !isOver, let paused {
        try transaction.execute(
          "UPDATE jobs SET paused = $2 WHERE id = $1", [job.value, .text(try paused.databaseText)])
      }
      let id = SQLValue.integer(try transaction.next(.commands))
      try transaction.execute(
        "INSERT INTO commands (id, job, kind, argument, created_at) VALUES ($1, $2, $3, $4, now_ms())",
        [id, job.value, .text(kind.rawValue), .text(argument)])
      if isOwn || isOver, let result {
        try transaction.execute(
          "UPDATE commands SET done_at = now_ms(), result = $2 WHERE id = $1", [id, .text(result)])
      }
      return isOwn
    }
  }
}
