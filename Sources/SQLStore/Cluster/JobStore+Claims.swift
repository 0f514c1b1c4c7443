internal import JobProtocol

/// Which node has a job. A node claims a job, and has it as long as it renews its lease.
extension JobStore {
  /// What waits for a node; see ``look(node:)``.
  package struct Waiting: Sendable, Hashable {
    /// Jobs to begin or to take over.
    package var jobs: Bool
    /// Jobs whose node is gone and that only have to end, or that have waited too long for capacity.
    package var endings: Bool
    package var commands: Bool
    /// Attempts of the node whose files it has to store though it does not have their jobs.
    package var attempts: Bool
  }

  /// Which jobs a node may begin: `$1` is its name, `$2` whether it may take those whose lease has ended.
  private static let claimable = """
    ended_at IS NULL AND stop_reason IS NULL AND state IN ('scheduled', 'queued', 'starting', 'running') AND (
      (node IS NULL AND (state <> 'scheduled' OR COALESCE(start_at, 0) <= now_ms())
        AND (state <> 'queued' OR COALESCE(queue_until, now_ms() + 1) > now_ms()))
      OR (node <> $1 AND lease_until < now_ms() AND $2 = 1)
      OR (node <> $1 AND handover_at IS NOT NULL))
    """
  /// Which jobs have no node and need no process any more.
  private static let toEnd = """
    ended_at IS NULL AND node <> $1 AND lease_until < now_ms() AND $2 = 1
      AND (state IN ('stopping', 'storing') OR stop_reason IS NOT NULL)
    """
  /// How long after the end of its wait a job ends: each node has looked at it then, also if it became due only now.
  private static let queueGrace: Int64 = 5_000
  private static let tired = """
    ended_at IS NULL AND node IS NULL AND state IN ('scheduled', 'queued') AND stop_reason IS NULL
      AND COALESCE(start_at, 0) <= now_ms() AND queue_until < now_ms() - \(queueGrace)
    """
  /// Which attempts of a node are of jobs that it does not have.
  private static let unstored = """
    attempts.node = $1 AND attempts.stored_at IS NULL AND jobs.deleted = 0
      AND (COALESCE(jobs.node, '') <> $1 OR jobs.ended_at IS NOT NULL)
    """

  /// Looks for what waits, by one statement.
  ///
  /// - Parameter takesOver: whether the node may take jobs whose lease has ended.
  package func look(node: String, takesOver: Bool) async throws -> Waiting {
    func exists(_ query: String) -> String { "CASE WHEN EXISTS (\(query)) THEN 1 ELSE 0 END" }
    let rows = try await connection.execute(
      """
      SELECT \(exists("SELECT 1 FROM jobs WHERE \(Self.claimable)")) AS jobs,
        \(exists("SELECT 1 FROM jobs WHERE (\(Self.toEnd)) OR (\(Self.tired))")) AS endings,
        \(exists("SELECT 1 FROM commands WHERE done_at IS NULL")) AS commands,
        \(exists("SELECT 1 FROM attempts JOIN jobs ON jobs.id = attempts.job WHERE \(Self.unstored)")) AS attempts
      """,
      [.text(node), .truth(takesOver)])
    guard let row = rows.first else { return Waiting(jobs: false, endings: false, commands: false, attempts: false) }
    return Waiting(
      jobs: try row.truth("jobs"), endings: try row.truth("endings"), commands: try row.truth("commands"),
      attempts: try row.truth("attempts"))
  }

  /// What a node writes of itself into the attempts that it begins.
  package struct Claimant: Sendable, Hashable {
    package var node: String
    /// That of the program that runs the attempts.
    package var version: String
    /// The clock of the node less that of the database, and how wrong that may be, in milliseconds; nil if not known.
    package var clockOffset: Int64?
    package var clockError: Int64?

    package init(node: String, version: String, clockOffset: Int64? = nil, clockError: Int64? = nil) {
      self.node = node
      self.version = version
      self.clockOffset = clockOffset
      self.clockError = clockError
    }
  }

  /// Claims the oldest jobs that can be begun: queued, due, handed over, or with a lease that has ended. For each, the next attempt
  /// begins.
  ///
  /// - Parameters:
  ///   - limit: the number of jobs that the node has room for.
  ///   - takesOver: whether the node may take jobs whose lease has ended.
  ///   - folder: the folder of an attempt, from the job, the number and the id.
  /// - Returns: the jobs with their new attempt.
  package func claim(
    _ claimant: Claimant, limit: Int, takesOver: Bool = true,
    folder: @escaping @Sendable (JobID, Int, String) -> String = { "jobs/\($0)/\($1)-\($2)" }
  ) async throws -> [JobRecord] {
    try await connection.transaction { [lease] transaction in
      let found = try transaction.execute(
        """
        SELECT * FROM jobs WHERE \(Self.claimable) ORDER BY created_at, id LIMIT $3 \(transaction.dialect.forUpdateSkipLocked)
        """,
        [.text(claimant.node), .truth(takesOver), .integer(limit)])
      return try found.compactMap { row in
        let job = try JobRecord(row)
        let failures = Self.failures(of: job, lease: lease)
        if failures > Self.maximumFailures {
          return try Self.end(job, claimant, failures: failures, lease: lease, in: transaction)
        }
        return try Self.take(
          job, claimant, id: JobID.randomText(16), failures: failures, lease: lease, folder: folder, in: transaction)
      }
    }
  }

  /// How many attempts in a row may end too early before the job ends: one more ends it.
  package static let maximumFailures: Int64 = 4
  /// An attempt whose node was lost within this time, in milliseconds, counts as one that ended too early.
  package static let livesAtLeast: Int64 = 600_000

  /// How many attempts in a row have ended too early, with the one that a job has when it is claimed. A job that brings its node
  /// down would bring down one node after the other.
  private static func failures(of job: JobRecord, lease: Int64) -> Int64 {
    guard job.handoverAt == nil, job.attempt > 0, let since = job.attemptStartedAt, let until = job.leaseUntil else {
      return job.failures
    }
    // The node was there when it renewed its lease, and for ten seconds after that at most.
    return until - lease - since < livesAtLeast ? job.failures + 1 : 0
  }

  private static func take(
    _ job: JobRecord, _ claimant: Claimant, id attemptID: String, failures: Int64, lease: Int64,
    folder: (JobID, Int, String) -> String, in transaction: any SQLTransaction
  ) throws -> JobRecord {
    let isHandedOver = job.handoverAt != nil
    let changed = try transaction.execute(
      """
      UPDATE jobs SET node = $2, lease_until = now_ms() + $4, handover_at = NULL, attempt = attempt + 1, attempt_id = $3,
        attempt_started_at = now_ms(), next_attempt_at = NULL, stalled = 0, state = 'starting', failures = $5
      WHERE id = $1 RETURNING *
      """,
      [job.id.value, .text(claimant.node), .text(attemptID), .integer(lease), .integer(failures)])
    guard let row = changed.first else { throw SQLError(.other, "A job that was locked is gone.") }
    let record = try JobRecord(row)
    let former = job.node.map { isHandedOver ? "is handed over by the node \($0)" : "was lost with the node \($0)" }
    try supersede(job, how: former ?? "was lost", takenOver: !isHandedOver, in: transaction)
    try transaction.execute(
      """
      INSERT INTO attempts (job, number, attempt_id, version, folder, started_at, node, clock_offset, clock_error)
      VALUES ($1, $2, $3, $4, $5, now_ms(), $6, $7, $8)
      """,
      [
        job.id.value, .integer(record.attempt), .text(attemptID), .text(claimant.version),
        .text(folder(job.id, Int(clamping: record.attempt), attemptID)), .text(claimant.node),
        .integer(claimant.clockOffset), .integer(claimant.clockError),
      ])
    if job.attempt > 0 {
      try transaction.append(
        .jobRestarted, of: job.id,
        data: EventData.text([
          "attempt": .integer(record.attempt), "previousAttempt": .text(former ?? "was lost"),
        ]))
    }
    return record
  }

  /// Takes a job whose attempts have ended too early too often: its files are stored, and it ends for the reason `crashing`.
  private static func end(
    _ job: JobRecord, _ claimant: Claimant, failures: Int64, lease: Int64, in transaction: any SQLTransaction
  ) throws -> JobRecord? {
    let how = "was lost with the node \(job.node ?? "")"
    try supersede(job, how: how, takenOver: true, in: transaction)
    let sentence = "The attempts of the job ended too early \(failures) times in a row; the last one \(how)."
    return try transaction.execute(
      """
      UPDATE jobs SET node = $2, lease_until = now_ms() + $4, handover_at = NULL, attempt_id = $3, next_attempt_at = NULL,
        stalled = 0, failures = $5, state = 'storing', reason = $6, sentence = $7
      WHERE id = $1 RETURNING *
      """,
      [
        job.id.value, .text(claimant.node), .text(JobID.randomText(16)), .integer(lease), .integer(failures),
        .text(JobEndReason.crashing.rawValue), .text(sentence),
      ]
    ).first.map { try JobRecord($0) }
  }

  /// Labels the attempt of the node that had a job.
  private static func supersede(
    _ job: JobRecord, how: String, takenOver: Bool, in transaction: any SQLTransaction
  ) throws {
    guard let attemptID = job.attemptID else { return }
    try transaction.execute(
      "UPDATE attempts SET how = $3, taken_over = $4 WHERE job = $1 AND attempt_id = $2 AND ended_at IS NULL",
      [job.id.value, .text(attemptID), .text(how), .truth(takenOver)])
  }

  /// Takes jobs whose node is gone and which only have to end. They get no other attempt, but another attempt id, so that the
  /// node that had them writes nothing more.
  package func claimEndings(_ claimant: Claimant, limit: Int) async throws -> [JobRecord] {
    try await connection.transaction { [lease] transaction in
      let found = try transaction.execute(
        "SELECT * FROM jobs WHERE \(Self.toEnd) ORDER BY created_at, id LIMIT $3 \(transaction.dialect.forUpdateSkipLocked)",
        [.text(claimant.node), .truth(true), .integer(limit)])
      return try found.compactMap { row in
        let job = try JobRecord(row)
        try Self.supersede(
          job, how: "was lost with the node \(job.node ?? "")", takenOver: true, in: transaction)
        return try transaction.execute(
          """
          UPDATE jobs SET node = $2, lease_until = now_ms() + $4, handover_at = NULL, attempt_id = $3, next_attempt_at = NULL,
            stalled = 0
          WHERE id = $1 RETURNING *
          """,
          [job.id.value, .text(claimant.node), .text(JobID.randomText(16)), .integer(lease)]
        ).first.map { try JobRecord($0) }
      }
    }
  }

  /// Ends jobs that have waited too long for capacity and that no node has taken.
  ///
  /// - Parameter sentence: names the short resource.
  /// - Returns: how many there were.
  @discardableResult
  package func endTiredJobs(sentence: String, limit: Int = 100) async throws -> Int {
    try await connection.transaction { transaction in
      let found = try transaction.execute(
        "SELECT id FROM jobs WHERE \(Self.tired) ORDER BY created_at, id LIMIT $1 \(transaction.dialect.forUpdateSkipLocked)",
        [.integer(limit)])
      for row in found {
        try Self.finish(
          try JobID(column: "id", of: row), .failed, .noCapacity, sentence: sentence, attempt: nil, in: transaction)
      }
      return found.count
    }
  }

  // MARK: Leases

  /// Renews the leases of all jobs of a node.
  ///
  /// - Returns: the jobs that the node has.
  package func renewLeases(node: String) async throws -> [JobID] { Array(try await renewedLeases(node: node).keys) }

  /// Renews the leases of all jobs of a node.
  ///
  /// - Returns: the jobs that the node has, with the id of their newest attempt, which is empty before the first one.
  package func renewedLeases(node: String) async throws -> [JobID: String] {
    let rows = try await connection.execute(
      """
      UPDATE jobs SET lease_until = now_ms() + $2 WHERE node = $1 AND ended_at IS NULL
      RETURNING id, COALESCE(attempt_id, '') AS attempt_id
      """,
      [.text(node), .integer(lease)])
    return Dictionary(try rows.map { (try JobID(column: "id", of: $0), try $0.text("attempt_id")) }) { $1 }
  }

  /// Returns the unfinished jobs of a node that begins again, the oldest first, and renews their leases.
  package func jobs(ofNode node: String) async throws -> [JobRecord] {
    _ = try await renewLeases(node: node)
    return try await connection.execute(
      "SELECT * FROM jobs WHERE node = $1 AND ended_at IS NULL ORDER BY created_at, id", [.text(node)]
    ).map { try JobRecord($0) }
  }

  /// Returns the attempts of a node of which not all is stored, and whose jobs are another node's or have ended.
  package func attemptsToStore(node: String, limit: Int = 100) async throws -> [AttemptRecord] {
    try await connection.execute(
      """
      SELECT attempts.* FROM attempts JOIN jobs ON jobs.id = attempts.job WHERE \(Self.unstored)
      ORDER BY attempts.started_at LIMIT $2
      """,
      [.text(node), .integer(limit)]
    ).map { try AttemptRecord($0) }
  }

  /// Writes how an attempt ended whose job another node has.
  package func endSupersededAttempt(_ attemptID: String, of job: JobID) async throws {
    try await connection.execute(
      """
      UPDATE attempts SET ended_at = now_ms(), how = COALESCE(how, 'was superseded')
      WHERE job = $1 AND attempt_id = $2 AND ended_at IS NULL
      """, [job.value, .text(attemptID)])
  }
}
