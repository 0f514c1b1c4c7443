extension JobStore {
  /// What metrics show of the nodes and their leases.
  package struct ClusterFigures: Sendable, Hashable {
    /// How many jobs another node took because their lease had ended, also those that were forgotten.
    package var takeovers: Int64
    /// Jobs that a node had, that have not ended, and whose lease has ended. Those that wait for a node have none.
    package var jobsWithoutLease: Int64
    /// The age of the oldest lease of a job that has not ended, in milliseconds; nil if no node has a job.
    package var oldestLease: Int64?
    /// Nodes that were heard of within the time of a lease; those of them that take no jobs; those that were not, but for those that
    /// ended in order or that an operator drained.
    package var ready: Int64
    package var draining: Int64
    package var gone: Int64
  }

  /// For how long a node counts as gone that was not heard of, in milliseconds: who took it away for good hears of it for a day.
  private static let goneTime: Int64 = 86_400_000

  /// Returns the figures by one statement.
  package func clusterFigures() async throws -> ClusterFigures {
    func count(_ condition: String) -> String { "(SELECT COUNT(*) FROM nodes WHERE \(condition))" }
    let row = try await connection.execute(
      """
      SELECT (SELECT COUNT(*) FROM attempts WHERE taken_over = 1)
          + COALESCE((SELECT value FROM counters WHERE name = $2), 0) AS takeovers,
        (SELECT COUNT(*) FROM jobs WHERE ended_at IS NULL AND node IS NOT NULL AND lease_until < now_ms()) AS without_lease,
        (SELECT MIN(lease_until) FROM jobs WHERE ended_at IS NULL AND node IS NOT NULL) AS oldest,
        \(count("seen_at >= now_ms() - $1 AND draining = 0 AND stopping = 0")) AS ready,
        \(count("seen_at >= now_ms() - $1 AND (draining = 1 OR stopping = 1)")) AS draining,
        \(count("seen_at < now_ms() - $1 AND seen_at >= now_ms() - $3 AND draining = 0 AND stopping = 0")) AS gone,
        now_ms() AS now
      """, [.integer(lease), .text(Self.prunedTakeovers), .integer(Self.goneTime)]
    ).first
    guard let row else { throw SQLError(.other, "The database has no figures.") }
    let now = try row.integer("now")
    return ClusterFigures(
      takeovers: try row.integer("takeovers"), jobsWithoutLease: try row.integer("without_lease"),
      oldestLease: try row.optionalInteger("oldest").map { max(now - ($0 - lease), 0) },
      ready: try row.integer("ready"), draining: try row.integer("draining"), gone: try row.integer("gone"))
  }
}
