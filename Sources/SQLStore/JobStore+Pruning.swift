/// Forgetting jobs that ended long ago.
extension JobStore {
  /// The tables with rows of jobs, in the column `job`; those whose rows others refer to come last. Webhooks and their deliveries go with
  /// the jobs and the events. A table of a later version is added here.
  package static let tablesOfJobs = ["files", "events", "commands", "attempts", "idempotency", "labels"]

  /// The maximum number of jobs that a transaction forgets.
  private static let maximumPruned = 100

  /// Forgets jobs that ended longer ago than `age` milliseconds, with their events, commands and attempts, unless their recordings are
  /// kept, or were asked to be deleted later than that, or a webhook of them is still to be sent. Sums of them remain, for
  /// ``attemptCount()``, ``countsByReason()`` and ``clusterFigures()``.
  ///
  /// - Returns: how many were forgotten, and whether further ones may wait.
  @discardableResult
  package func pruneJobs(age: Int64) async throws -> (count: Int, hasMore: Bool) {
    let count = try await connection.transaction { transaction in
      let rows = try transaction.execute(
        """
        SELECT id, reason FROM jobs WHERE ended_at <= now_ms() - $1
          AND (object_path IS NULL OR deleted = 1 AND COALESCE(delete_requested_at, ended_at) <= now_ms() - $1)
          AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.job = jobs.id AND deliveries.state = 'pending')
        ORDER BY ended_at, id LIMIT $2 \(transaction.dialect.forUpdateSkipLocked)
        """, [.integer(age), .integer(Self.maximumPruned)])
      guard !rows.isEmpty else { return 0 }
      let ids = try rows.map { SQLValue.text(try $0.text("id")) }
      let places = (1...ids.count).map { "$\($0)" }.joined(separator: ", ")
      var sums: [String: Int64] = [:]
      for row in rows {
        if let reason = try row.optionalText("reason") { sums[Self.prunedEnds + reason, default: 0] += 1 }
      }
      for (name, condition) in [(Self.prunedAttempts, ""), (Self.prunedTakeovers, " AND taken_over = 1")] {
        let counting = "SELECT COUNT(*) AS count FROM attempts WHERE job IN (\(places))\(condition)"
        sums[name] = try transaction.execute(counting, ids).first?.integer("count") ?? 0
      }
      for (name, value) in sums.sorted(by: { $0.key < $1.key }) {
        try transaction.execute(
          """
          INSERT INTO counters (name, value) VALUES ($1, $2)
          ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value
          """, [.text(name), .integer(value)])
      }
      for table in Self.tablesOfJobs {
        try transaction.execute("DELETE FROM \(table) WHERE job IN (\(places))", ids)
      }
      try transaction.execute("DELETE FROM jobs WHERE id IN (\(places))", ids)
      return ids.count
    }
    return (count, count == Self.maximumPruned)
  }

  /// Forgets nodes that were not heard of for `age` milliseconds, unless an operator drains them.
  package func pruneNodes(age: Int64) async throws {
    try await connection.execute(
      "DELETE FROM nodes WHERE seen_at <= now_ms() - $1 AND draining = 0", [.integer(age)])
  }

  /// The names of the counters of what was forgotten.
  static let prunedAttempts = "pruned.attempts"
  static let prunedTakeovers = "pruned.takeovers"
  static let prunedEnds = "pruned.ends."

  /// Returns the values of counters whose names begin with a prefix, by the rest of their names.
  func counters(below prefix: String) async throws -> [(name: String, value: Int64)] {
    try await connection.execute("SELECT name, value FROM counters").compactMap { row in
      let name = try row.text("name")
      guard name.utf8.starts(with: prefix.utf8) else { return nil }
      return (String(name.dropFirst(prefix.count)), try row.integer("value"))
    }
  }
}
