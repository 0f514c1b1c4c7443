internal import CSQLite

/// An open file of SQLite, for one thread. It is not Sendable: ``SQLiteConnection`` makes it on its thread and leaves it there.
final class SQLiteDatabase: SQLTransaction {
  /// The number of prepared statements that are kept.
  private static let maximumStatements = 256
  /// How long a statement waits for another program that has locked the file.
  private static let busyMilliseconds: Int32 = 5_000

  let dialect = SQLDialect.sqlite
  private let handle: OpaquePointer
  private var statements: [String: SQLiteStatement] = [:]

  /// - Parameters:
  ///   - path: the file, which is created if it is missing.
  ///   - clock: milliseconds since 1970, for `now_ms()`.
  init(path: String, clock: @escaping @Sendable () -> Int64) throws {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let result = sqlite3_open_v2(path, &opened, flags, nil)
    guard result == SQLITE_OK, let opened else {
      let error = SQLError(code: result, "The database cannot be opened", opened)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    // The object exists from here on, and deinit closes the file when something below fails.
    sqlite3_busy_timeout(handle, Self.busyMilliseconds)
    try define(clock)
    // A commit has reached the disk when it returns (https://www.sqlite.org/pragma.html#pragma_synchronous).
    for setting in ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"] {
      try execute("PRAGMA \(setting)")
    }
    guard try execute("PRAGMA journal_mode").first?.text("journal_mode") == "wal" else {
      throw SQLError(.storage, "The file system of the database has no shared memory, which a write-ahead log needs.")
    }
  }

  deinit {
    for statement in statements.values { statement.finalize() }
    sqlite3_close_v2(handle)
  }

  /// Defines `now_ms()`.
  private func define(_ clock: @escaping @Sendable () -> Int64) throws {
    let context = Unmanaged.passRetained(Clock(clock)).toOpaque()
    let result = sqlite3_create_function_v2(
      handle, "now_ms", 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, context,
      { context, _, _ in
        guard let clock = sqlite3_user_data(context) else { return }
        sqlite3_result_int64(context, Unmanaged<Clock>.fromOpaque(clock).takeUnretainedValue().now())
      }, nil, nil, { clock in if let clock { Unmanaged<Clock>.fromOpaque(clock).release() } })
    if result != SQLITE_OK { throw SQLError(code: result, "The clock cannot be defined", handle) }
  }

  @discardableResult
  func execute(_ statement: String, _ parameters: [SQLValue]) throws -> [SQLRow] {
    try prepared(statement).run(parameters)
  }

  private func prepared(_ text: String) throws -> SQLiteStatement {
    if let known = statements[text] { return known }
    let statement = try SQLiteStatement(text, of: handle)
    if statements.count >= Self.maximumStatements {
      for old in statements.values { old.finalize() }
      statements.removeAll()
    }
    statements[text] = statement
    return statement
  }

  /// Runs `body` in a transaction that no other writer interrupts.
  func transaction<Result>(_ body: (any SQLTransaction) throws -> Result) throws -> Result {
    try execute("BEGIN IMMEDIATE")
    do {
      let result = try body(self)
      try execute("COMMIT")
      return result
    } catch {
      // After some errors, such as that of a full disk, SQLite has already undone it.
      if sqlite3_get_autocommit(handle) == 0 { _ = try? execute("ROLLBACK") }
      throw error
    }
  }

  private final class Clock: Sendable {
    let now: @Sendable () -> Int64

    init(_ now: @escaping @Sendable () -> Int64) { self.now = now }
  }
}
