internal import Media

/// Connections to a database of PostgreSQL, or to a pooler before one. Each has a thread of its own; a caller gets the first that is
/// free. So statements of different callers run at once, and those that a caller awaits one after the other in their order.
///
/// A lost connection is made again, with growing pauses. A statement that did not reach the server, a reading one, and a transaction
/// that was not yet to be committed are repeated; of others it is not known whether they took effect, and they fail with the kind
/// `unreachable`. Serialization failures and deadlocks are tried again. Nothing waits for longer than ``PostgreSQLSettings/Limits``.
package final class PostgreSQLConnection: SQLConnection {
  package var dialect: SQLDialect { .postgreSQL }

  private let pool: PostgreSQLPool
  private let listener: PostgreSQLListener?
  private let observe: @Sendable (SQLOperation) -> Void

  /// Begins, without a connection: the first statement makes one.
  ///
  /// - Parameter observe: called with each operation, on a thread of a connection.
  package init(_ settings: PostgreSQLSettings, observe: @escaping @Sendable (SQLOperation) -> Void = { _ in }) {
    pool = PostgreSQLPool(settings)
    listener = settings.listens ? PostgreSQLListener(settings) : nil
    self.observe = observe
    pool.start()
  }

  deinit {
    pool.close {}
    listener?.close()
  }

  /// Runs what was called before, then closes the connections. Later calls throw.
  package func close() async {
    listener?.close()
    await withCheckedContinuation { (closed: CheckedContinuation<Void, Never>) in pool.close { closed.resume() } }
  }

  package func changes(_ body: @escaping @Sendable (SQLTopic) -> Void) { listener?.add(body) }

  @discardableResult
  package func execute(_ statement: String, _ parameters: [SQLValue]) async throws -> [SQLRow] {
    try await perform { worker, start in try worker.execute(statement, parameters, start) }
  }

  package func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (any SQLTransaction) throws -> Result
  ) async throws -> Result {
    try await perform { worker, start in try worker.transaction(body, start) }
  }

  private func perform<Result: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLWorker, MonotonicInstant) throws -> Result
  ) async throws -> Result {
    let start = MonotonicInstant.now
    let observe = observe
    return try await withCheckedThrowingContinuation { (done: CheckedContinuation<Result, any Error>) in
      let isAccepted = pool.append { worker in
        do {
          let result = try body(worker, start)
          observe(SQLOperation(duration: .now - start, failed: false))
          done.resume(returning: result)
        } catch {
          let failed = (error as? SQLError).map { $0.kind != .constraint } ?? false
          observe(SQLOperation(duration: .now - start, failed: failed))
          done.resume(throwing: error)
        }
      }
      if !isAccepted { done.resume(throwing: SQLError.closed) }
    }
  }
}
