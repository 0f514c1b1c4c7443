import SQLStore
import Synchronization

/// A clock of the database, which a test advances, in milliseconds since 1970.
final class DatabaseClock: Sendable {
  private let milliseconds: Mutex<Int64>

  init(_ start: Int64 = 1_000_000) { milliseconds = Mutex(start) }

  var now: Int64 { milliseconds.withLock { $0 } }

  func advance(_ by: Int64) { milliseconds.withLock { $0 += by } }
}

/// A connection whose statements see a clock of the test in place of that of the database.
final class ClockedConnection: SQLConnection {
  private let connection: any SQLConnection
  private let clock: @Sendable () -> Int64

  var dialect: SQLDialect { connection.dialect }

  /// - Parameter clock: milliseconds since 1970.
  init(_ connection: any SQLConnection, clock: @escaping @Sendable () -> Int64) {
    self.connection = connection
    self.clock = clock
  }

  private struct Transaction: SQLTransaction {
    let transaction: any SQLTransaction
    let clock: @Sendable () -> Int64

    var dialect: SQLDialect { transaction.dialect }

    func execute(_ statement: String, _ parameters: [SQLValue]) throws -> [SQLRow] {
      try transaction.execute(ClockedConnection.statement(statement, clock), parameters)
    }
  }

  private static func statement(_ statement: String, _ clock: () -> Int64) -> String {
    statement.replacing("now_ms()", with: "CAST(\(clock()) AS BIGINT)")
  }

  func execute(_ statement: String, _ parameters: [SQLValue]) async throws -> [SQLRow] {
    try await connection.execute(Self.statement(statement, clock), parameters)
  }

  func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (any SQLTransaction) throws -> Result
  ) async throws -> Result {
    let clock = clock
    return try await connection.transaction { try body(Transaction(transaction: $0, clock: clock)) }
  }

  func changes(_ body: @escaping @Sendable (SQLTopic) -> Void) { connection.changes(body) }

  func close() async { await connection.close() }
}
