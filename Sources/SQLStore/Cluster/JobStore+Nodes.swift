/// The nodes: services that use the same database.
extension JobStore {
  /// Notes that a node begins.
  ///
  /// - Returns: false if another service with its name was heard of within the time of a lease.
  package func join(_ node: NewNode) async throws -> Bool {
    try await !connection.execute(
      """
      INSERT INTO nodes (name, identity, advertise, version, started_at, seen_at)
      VALUES ($1, $2, $3, $4, now_ms(), now_ms())
      ON CONFLICT (name) DO UPDATE SET identity = $2, advertise = $3, version = $4, started_at = now_ms(), seen_at = now_ms(),
        stopping = 0
      WHERE nodes.identity = $2 OR nodes.seen_at < now_ms() - $5 RETURNING name
      """,
      [
        .text(node.name), .text(node.identity), .text(node.advertise), .text(node.version), .integer(lease),
      ]
    ).isEmpty
  }

  /// What the database says to a node that says that it is there.
  package struct Heartbeat: Sendable, Hashable {
    /// The clock of the database, in milliseconds since 1970.
    package var now: Int64
    /// Whether an operator asked the node to take no jobs.
    package var isDraining: Bool
  }

  /// Notes that a node is there.
  ///
  /// - Parameters:
  ///   - identity: that of the node's data folder.
  ///   - capacity: a JSON object.
  /// - Returns: nil if the name is another service's now.
  package func heartbeat(
    of node: String, identity: String, capacity: String, isStopping: Bool
  ) async throws -> Heartbeat? {
    try await connection.execute(
      """
      UPDATE nodes SET seen_at = now_ms(), capacity = $3, stopping = $4 WHERE name = $1 AND identity = $2
      RETURNING seen_at, draining
      """,
      [.text(node), .text(identity), .text(capacity), .truth(isStopping)]
    ).first.map { Heartbeat(now: try $0.integer("seen_at"), isDraining: try $0.truth("draining")) }
  }

  /// Returns all nodes by their names, also those that have ended.
  package func nodes() async throws -> [NodeRecord] {
    try await connection.execute("SELECT nodes.*, now_ms() AS now FROM nodes ORDER BY name").map { try NodeRecord($0) }
  }

  /// Asks a node to take no more jobs and to hand over those that it has, or to take jobs again.
  ///
  /// - Returns: false if there is no such node.
  package func setDraining(_ node: String, _ isDraining: Bool) async throws -> Bool {
    try await !connection.execute(
      "UPDATE nodes SET draining = $2 WHERE name = $1 RETURNING name", [.text(node), .truth(isDraining)]
    ).isEmpty
  }

  /// Returns how many milliseconds ago each node was heard of.
  package func nodeAges() async throws -> [String: Int64] {
    Dictionary(try await nodes().map { ($0.name, $0.age) }) { $1 }
  }
}
