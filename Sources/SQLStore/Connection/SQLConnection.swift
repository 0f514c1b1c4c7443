/// A connection to a database, SQLite or PostgreSQL. Everything is done on threads of the connection, so that no event loop waits
/// for a disk or a network.
///
/// Statements are those that both databases understand: parameters are `$1`, `$2`, …; the clock of the database in milliseconds
/// since 1970 is `now_ms()`, which the connection defines; see ``SQLDialect`` for what differs. Nothing is kept in a session but
/// transactions.
package protocol SQLConnection: Sendable {
  var dialect: SQLDialect { get }

  /// Runs one statement in a transaction of its own.
  ///
  /// - Returns: the rows of a query, or of `RETURNING`.
  @discardableResult
  func execute(_ statement: String, _ parameters: [SQLValue]) async throws -> [SQLRow]

  /// Runs several statements, of which all take effect or none. What `body` throws undoes them, and is thrown.
  ///
  /// `body` may run more than once, when the database finds a conflict with another transaction: it changes nothing but the
  /// database. It runs on the connection's thread.
  func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (any SQLTransaction) throws -> Result
  ) async throws -> Result

  /// Calls `body`, on a thread of the connection, when another connection has changed something, as far as that is heard of: never
  /// with SQLite or behind a pooler. Who waits for a change also asks from time to time.
  func changes(_ body: @escaping @Sendable (SQLTopic) -> Void)

  /// Runs what was called before, then closes the connection. Later calls throw.
  func close() async
}

extension SQLConnection {
  @discardableResult
  package func execute(_ statement: String) async throws -> [SQLRow] { try await execute(statement, []) }
}

/// The statements of one transaction. It is valid only within the body that it was given to.
///
/// A statement sees what others committed before the statement began (READ COMMITTED). With PostgreSQL, other transactions run at
/// the same time: what a transaction reads and relies on is locked with ``SQLDialect/forUpdate``, or stands in the condition of the
/// statement that writes.
package protocol SQLTransaction {
  var dialect: SQLDialect { get }

  /// Runs one statement.
  ///
  /// - Returns: the rows of a query, or of `RETURNING`.
  @discardableResult
  func execute(_ statement: String, _ parameters: [SQLValue]) throws -> [SQLRow]
}

extension SQLTransaction {
  @discardableResult
  package func execute(_ statement: String) throws -> [SQLRow] { try execute(statement, []) }

  /// Returns the clock of the database, in milliseconds since 1970.
  package var now: Int64 {
    get throws { try execute("SELECT now_ms() AS now").first?.integer("now") ?? 0 }
  }

  /// Returns the next number of a counter. Transactions that take one of the same counter end in the order of their numbers, so
  /// that a reader who has seen a number has seen all before it.
  package func next(_ counter: SQLCounter) throws -> Int64 {
    // The notice goes with the same statement, so that it costs no exchange of its own.
    let notice = dialect == .postgreSQL ? ", pg_notify('\(SQLTopic.channel)', name)" : ""
    let rows = try execute(
      "UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value\(notice)", [.text(counter.rawValue)])
    guard let row = rows.first else {
      throw SQLError(.other, "The counter \(counter.rawValue) is missing.")
    }
    return try row.integer("value")
  }
}

/// The counters of the database. Each is also the name of a ``SQLTopic``.
package enum SQLCounter: String, Sendable, Hashable, CaseIterable {
  case events
  case commands
}
