import SQLStore
import Synchronization
import Testing

@Suite("A connection to a database")
struct SQLConnectionTests {
  private let databases = TemporaryDatabases()

  @Test("Values come back as they were written", arguments: DatabaseKind.available)
  func values(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let connection = try await database.connect()
    let values: [SQLValue] = [
      .null, .integer(Int64.min), .integer(Int64.max), .real(0.25), .text(""), .text("a\u{1}b “é” 🎥 \u{10FFFF}'\\"),
      .blob([]), .blob(Array(0...255)),
    ]
    for value in values {
      let rows = try await connection.execute("SELECT $1 AS value", [value])
      #expect(rows.map(\.values) == [[value]])
      #expect(rows.first?["value"] == value)
    }
    await connection.close()
  }

  @Test("A text with U+0000 is stored, by PostgreSQL with U+FFFD in its place", arguments: DatabaseKind.available)
  func zeros(_ kind: DatabaseKind) async throws {
    let connection = try await databases.make(kind).connect()
    let rows = try await connection.execute("SELECT $1 AS value", [.text("a\u{0}b\u{0}")])
    #expect(try rows.first?.text("value") == (kind == .sqlite ? "a\u{0}b\u{0}" : "a\u{FFFD}b\u{FFFD}"))
    await connection.close()
  }

  @Test("Sums, counts, comparisons and the clock are integers", arguments: DatabaseKind.available)
  func types(_ kind: DatabaseKind) async throws {
    let connection = try await databases.make(kind).connect()
    try await SQLSchema.migrate(
      connection, by: [["CREATE TABLE t (a BIGINT, b TEXT, c BYTEA)", "INSERT INTO t (a) VALUES (1), (2)"]])
    let row = try #require(
      try await connection.execute(
        """
        SELECT SUM(a) AS sum, COUNT(*) AS count, MAX(a) AS max, CASE WHEN MAX(a) > 1 THEN 1 ELSE 0 END AS truth,
          now_ms() - now_ms() AS clock, now_ms() AS now FROM t
        """
      ).first)
    #expect(try row.integer("sum") == 3)
    #expect(try row.integer("count") == 2)
    #expect(try row.integer("max") == 2)
    #expect(try row.truth("truth"))
    #expect(try row.integer("clock") == 0)
    #expect(abs(try row.integer("now") - SQLiteConnection.systemClock) < 5_000)
    // A value that is not given takes the type of its place.
    let changed = try await connection.execute(
      "UPDATE t SET a = a + $1, b = COALESCE($2, b), c = $3 WHERE a < now_ms() - $4 RETURNING a, b, c",
      [.null, .null, .null, .integer(1)])
    #expect(changed.map(\.values) == [[.null, .null, .null], [.null, .null, .null]])
    await connection.close()
  }

  @Test("Parameters are numbered, whatever the order in which they appear", arguments: DatabaseKind.available)
  func parameters(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let connection = try await database.connect()
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

  @Test("A transaction that throws changes nothing, and the connection goes on", arguments: DatabaseKind.available)
  func rollback(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    struct Stop: Error {}
    let connection = try await database.connect()
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

  @Test("The kind of an error tells a constraint from a wrong statement", arguments: DatabaseKind.available)
  func errors(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let failures = Mutex(0)
    let connection = try await database.connect(
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

  @Test("A thousand transactions at once each see those before them", arguments: DatabaseKind.available)
  func concurrency(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let connection = try await database.connect()
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
