/// What a transaction has changed that others wait for.
package enum SQLTopic: String, Sendable, Hashable, CaseIterable {
  /// Jobs were submitted that any node may claim.
  case jobs
  case commands
  case events
  /// Receivers get events.
  case deliveries

  /// The channel of the notifications, whose text is the name of the topic.
  static let channel = "chatbot"
}

extension SQLTransaction {
  /// Tells the other connections of the database, when the transaction is committed, what has changed. It only shortens their
  /// waits: a connection may hear nothing, as with SQLite or behind a pooler. ``next(_:)`` announces its counter by itself.
  package func notify(_ topic: SQLTopic) throws {
    guard dialect == .postgreSQL else { return }
    try execute("SELECT pg_notify($1, $2)", [.text(SQLTopic.channel), .text(topic.rawValue)])
  }
}
