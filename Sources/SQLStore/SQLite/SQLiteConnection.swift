internal import CThreads
internal import Glibc
internal import Media

/// A connection to a file of SQLite, with a write-ahead log of which each commit has reached the disk. All statements run on one
/// thread, in the order of the calls.
package final class SQLiteConnection: SQLConnection {
  private typealias Work = @Sendable (SQLiteDatabase) -> Void

  private struct Queue {
    var waiting: [Work] = []
    var isClosed = false
  }

  private let queue: Monitor<Queue>
  private let observe: @Sendable (SQLOperation) -> Void

  package var dialect: SQLDialect { .sqlite }

  private init(queue: Monitor<Queue>, observe: @escaping @Sendable (SQLOperation) -> Void) {
    self.queue = queue
    self.observe = observe
  }

  /// Opens a file, or creates it with mode 0600.
  ///
  /// - Parameters:
  ///   - path: the file. Files with `-wal` and `-shm` appended to its name lie beside it.
  ///   - clock: milliseconds since 1970; the clock of the database.
  ///   - observe: called with each operation, on the connection's thread.
  /// - Throws: an `SQLError`.
  package static func open(
    _ path: String, clock: @escaping @Sendable () -> Int64 = { SQLiteConnection.systemClock },
    observe: @escaping @Sendable (SQLOperation) -> Void = { _ in }
  ) async throws -> SQLiteConnection {
    let queue = Monitor(Queue())
    try await withCheckedThrowingContinuation { (opened: CheckedContinuation<Void, any Error>) in
      let isStarted = DedicatedThread.start("database") {
        do {
          try createPrivately(path)
          let database = try SQLiteDatabase(path: path, clock: clock)
          opened.resume()
          run(queue, database)
        } catch {
          opened.resume(throwing: error)
        }
      }
      if !isStarted { opened.resume(throwing: SQLError(.other, "No thread can be started for the database.")) }
    }
    return SQLiteConnection(queue: queue, observe: observe)
  }

  deinit { queue.withLock { $0.isClosed = true } }

  /// The wall clock in milliseconds since 1970.
  package static var systemClock: Int64 { Int64(exactly: (cthreads_wall_clock() * 1_000).rounded()) ?? 0 }

  /// Runs what waits until the connection is closed and nothing waits.
  private static func run(_ queue: Monitor<Queue>, _ database: SQLiteDatabase) {
    while true {
      let works: [Work] =
        queue.wait { queue in
          if queue.waiting.isEmpty, !queue.isClosed { return nil }
          defer { queue.waiting.removeAll() }
          return queue.waiting
        } ?? []
      if works.isEmpty { return }
      for work in works { work(database) }
    }
  }

  /// Creates the file so that only its owner may read it, unless it exists.
  private static func createPrivately(_ path: String) throws {
    let file = Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if file >= 0 {
      Glibc.close(file)
    } else if errno != EEXIST {
      let reason = strerror(errno).map { String(cString: $0) } ?? "error \(errno)"
      throw SQLError(.storage, "The database \(path.printable()) cannot be created: \(reason).")
    }
  }

  /// Runs what was called before, then closes the file. Later calls throw.
  package func close() async {
    await withCheckedContinuation { (closed: CheckedContinuation<Void, Never>) in
      let isLast = queue.withLock { queue in
        if queue.isClosed { return false }
        queue.waiting.append { _ in closed.resume() }
        queue.isClosed = true
        return true
      }
      if !isLast { closed.resume() }
    }
  }

  /// Nobody else changes the file.
  package func changes(_ body: @escaping @Sendable (SQLTopic) -> Void) {}

  @discardableResult
  package func execute(_ statement: String, _ parameters: [SQLValue]) async throws -> [SQLRow] {
    try await perform { try $0.execute(statement, parameters) }
  }

  package func transaction<Result: Sendable>(
    _ body: @escaping @Sendable (any SQLTransaction) throws -> Result
  ) async throws -> Result {
    try await perform { try $0.transaction(body) }
  }

  private func perform<Result: Sendable>(
    _ body: @escaping @Sendable (SQLiteDatabase) throws -> Result
  ) async throws -> Result {
    let start = MonotonicInstant.now
    let observe = observe
    return try await withCheckedThrowingContinuation { (done: CheckedContinuation<Result, any Error>) in
      let isAccepted = queue.withLock { queue in
        if queue.isClosed { return false }
        queue.waiting.append { database in
          do {
            let result = try body(database)
            observe(SQLOperation(duration: .now - start, failed: false))
            done.resume(returning: result)
          } catch {
            let failed = (error as? SQLError).map { $0.kind != .constraint } ?? false
            observe(SQLOperation(duration: .now - start, failed: failed))
            done.resume(throwing: error)
          }
        }
        return true
      }
      if !isAccepted { done.resume(throwing: SQLError.closed) }
    }
  }
}
