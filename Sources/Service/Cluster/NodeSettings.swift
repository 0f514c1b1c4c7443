/// A service among those that use the same database.
package struct NodeSettings: Sendable, Hashable {
  package var name: String
  /// That of its data folder: another service with the same name has another one.
  package var identity: String
  /// The URL at which the other nodes reach it.
  package var advertise: String?
  /// Whether other services may use the database. If not, all jobs are this node's, and no lease ends.
  package var isShared: Bool
  package var presence = NodePresence.Limits()
  package var leaving = LeavingAttempt.Limits()
  package var drain = NodeDrain.Limits()

  package init(name: String, identity: String, advertise: String? = nil, isShared: Bool) {
    self.name = name
    self.identity = identity
    self.advertise = advertise
    self.isShared = isShared
  }
}
