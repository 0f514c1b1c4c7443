/// A row of `nodes`: a service that has used the database. Times are milliseconds since 1970 by the clock of the database.
package struct NodeRecord: Sendable, Hashable {
  package var name: String
  /// That of its data folder.
  package var identity: String
  /// The URL at which other nodes reach it; nil if they cannot.
  package var advertise: String?
  package var version: String
  package var startedAt: Int64
  /// When it was heard of last, by the clock of the database.
  package var seenAt: Int64
  /// Whether an operator asked it to take no jobs.
  package var isDraining: Bool
  /// Whether it ends.
  package var isStopping: Bool
  /// A JSON object.
  package var capacity: String
  /// How long ago it was heard of, in milliseconds.
  package var age: Int64

  /// - Parameter row: has all columns of `nodes`, and `now`.
  package init(_ row: SQLRow) throws(SQLError) {
    name = try row.text("name")
    identity = try row.text("identity")
    advertise = try row.optionalText("advertise")
    version = try row.text("version")
    startedAt = try row.integer("started_at")
    seenAt = try row.integer("seen_at")
    isDraining = try row.truth("draining")
    isStopping = try row.truth("stopping")
    capacity = try row.text("capacity")
    age = max(try row.integer("now") - seenAt, 0)
  }

  /// Whether the node has been heard of lately: its leases have not ended.
  package var isAlive: Bool { age < JobStore.standardLease }
}

/// A node that begins.
package struct NewNode: Sendable, Hashable {
  package var name: String
  package var identity: String
  package var advertise: String?
  package var version: String

  package init(name: String, identity: String, advertise: String?, version: String) {
    self.name = name
    self.identity = identity
    self.advertise = advertise
    self.version = version
  }
}
