import Foundation
import SQLStore
import Synchronization
import Testing

@Suite("A connection to SQLite")
struct SQLiteConnectionTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  @Test("Values come back as they were written")
  func values() async throws {
    let connection = try await SQLiteConnection.open(database.path)
    let values: [SQLValue] = [
      .null, .integer(Int64.min), .integer(Int64.max), .real(0.25), .text(""), .text("a\u{0}b “é” 🎥"), .blob([]),
      .blob([0, 255, 7]),
    ]
    for value in values {
      let rows = try await connection.execute("SELECT $1 AS value", [value])
      #expect(rows.map(\.values) == [[value]])
      #expect(rows.first?["value"] == value)
    }
    await connection.close()
  }

  @Test("Parameters are numbered, whatever the order in which they appear")
  func parameters() async throws {
    let connection = try await SQLiteConnection.open(database.path)
    let rows = try await connection.execute("SELECT $2 AS b, $1 AS a, $2 AS c", [.integer(1), .text("two")])
    #expect(try rows.first?.integer("a") == 1)
    #expect(try rows.first?.text("b") == "two")
    #expect(try rows.first?.text("c") == "two")
    await #expect(throws: SQLError.self) { try await connection.execute("SELECT $1, $3", [.null, .null]) }
    await #expect(throws: SQLError.self) { try await connection.execute("SELECT $1", []) }
    // A statement that failed leaves nothing behind.
    #expect(try await connection.execute("SELECT $1 AS a", [.integer(3)]).first?.integer("a") == 3)
    await connection.close()
  }

  @Test("A transaction that throws changes nothing, and the connection goes on")
  func rollback() async throws {
    struct Stop: Error {}
    let connection = try await SQLiteConnection.open(database.path)
    try await connection.execute("CREATE TABLE t (a BIGINT PRIMARY KEY)")
    await #expect(throws: Stop.self) {
      try await connection.transaction { transaction in
        try transaction.execute("INSERT INTO t (a) VALUES (1)")
        throw Stop()
      }
    }
    await #expect(throws: SQLError.self) {
      try await connection.transaction { transaction in
        try transaction.execute("INSERT INTO t (a) VALUES (2)")
        _ = try transaction.execute("INSERT INTO t (a) VALUES (2)")
      }
    }
    #expect(try await connection.execute("SELECT * FROM t").isEmpty)
    try await connection.transaction { transaction in
      _ = try transaction.execute("INSERT INTO t (a) VALUES (3)")
    }
    #expect(try await connection.execute("SELECT a FROM t").count == 1)
    await connection.close()
  }

  @Test("The kind of an error tells a constraint from a wrong statement")
  func errors() async throws {
    let failures = Mutex(0)
    let connection = try await SQLiteConnection.open(
      database.path,
      observe: { operation in
        if operation.failed { failures.withLock { $0 += 1 } }
      })
    try await connection.execute("CREATE TABLE t (a BIGINT PRIMARY KEY)")
    try await connection.execute("INSERT INTO t (a) VALUES (1)")
    let constraint = await #expect(throws: SQLError.self) {
      try await connection.execute("INSERT INTO t (a) VALUES (1)")
    }
    #expect(constraint?.kind == .constraint)
    #expect(failures.withLock { $0 } == 0)
    let wrong = await #expect(throws: SQLError.self) { try await connection.execute("SELEKT 1") }
    #expect(wrong?.kind == .other)
    #expect(failures.withLock { $0 } == 1)
    await connection.close()
    let closed = await #expect(throws: SQLError.self) { try await connection.execute("SELECT 1") }
    #expect(closed?.kind == .closed)
  }

  @Test("The clock of the database is what was given")
  func clock() async throws {
    let time = Mutex<Int64>(1_700_000_000_123)
    let connection = try await SQLiteConnection.open(database.path, clock: { time.withLock { $0 } })
    #expect(try await connection.execute("SELECT now_ms() AS now").first?.integer("now") == 1_700_000_000_123)
    time.withLock { $0 += 5 }
    #expect(try await connection.transaction { try $0.now } == 1_700_000_000_128)
    await connection.close()
    let real = try await SQLiteConnection.open(database.path)
    let now = try await real.transaction { try $0.now }
    #expect(abs(Double(now) - Date().timeIntervalSince1970 * 1_000) < 60_000)
    await real.close()
  }

  @Test("Commits reach the disk: the write-ahead log is on and synchronised, and the file is private")
  func settings() async throws {
    let connection = try await SQLiteConnection.open(database.path)
    #expect(try await connection.execute("PRAGMA journal_mode").first?.text("journal_mode") == "wal")
    #expect(try await connection.execute("PRAGMA synchronous").first?.integer("synchronous") == 2)
    #expect(try await connection.execute("PRAGMA foreign_keys").first?.integer("foreign_keys") == 1)
    let attributes = try FileManager.default.attributesOfItem(atPath: database.path)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    await connection.close()
  }

  @Test("A file that is no database, and a folder that does not exist, are errors")
  func noDatabase() async throws {
    try Data(repeating: 65, count: 5_000).write(to: URL(fileURLWithPath: database.path))
    let error = await #expect(throws: SQLError.self) { _ = try await SQLiteConnection.open(database.path) }
    #expect(error?.kind == .storage)
    let missing = await #expect(throws: SQLError.self) {
      _ = try await SQLiteConnection.open("\(database.folder)/none/service.db")
    }
    #expect(missing?.kind == .storage)
  }

  @Test("A thousand transactions at once each see those before them")
  func concurrency() async throws {
    let connection = try await SQLiteConnection.open(database.path)
    try await connection.execute("CREATE TABLE t (a BIGINT NOT NULL)")
    try await connection.execute("INSERT INTO t (a) VALUES (0)")
    let seen = try await withThrowingTaskGroup(of: Int64.self) { group in
      for _ in 0..<1_000 {
        group.addTask {
          try await connection.transaction { transaction in
            try transaction.execute("UPDATE t SET a = a + 1 RETURNING a").first?.integer("a") ?? 0
          }
        }
      }
      return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
    }
    #expect(seen == Set(1...1_000))
    await connection.close()
  }
}
