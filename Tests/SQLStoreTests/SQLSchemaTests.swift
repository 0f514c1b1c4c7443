import SQLStore
import Testing

@Suite("The schema of the database")
struct SQLSchemaTests {
  private let databases = TemporaryDatabases()

  private func version(_ connection: any SQLConnection) async throws -> Int64? {
    try await connection.execute("SELECT MAX(version) AS version FROM schema_version").first?.integer("version")
  }

  @Test("A new database gets all migrations, and opening it again changes nothing", arguments: DatabaseKind.available)
  func new(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let store = try await database.open()
    #expect(try await version(store.connection) == SQLSchema.version)
    await store.connection.close()
    let again = try await database.open()
    let rows = try await again.connection.execute("SELECT version FROM schema_version")
    #expect(rows.count == Int(SQLSchema.version))
  }

  @Test("A migration adds to the rows of the version before it", arguments: DatabaseKind.available)
  func migration(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let connection = try await database.connect()
    let first = ["CREATE TABLE t (a BIGINT NOT NULL)", "INSERT INTO t (a) VALUES (1)"]
    let second = ["ALTER TABLE t ADD COLUMN b TEXT NOT NULL DEFAULT 'x'"]
    try await SQLSchema.migrate(connection, by: [first])
    try await SQLSchema.migrate(connection, by: [first, second])
    #expect(try await version(connection) == 2)
    #expect(try await connection.execute("SELECT b FROM t").first?.text("b") == "x")
  }

  @Test("A migration that fails leaves the database as it was", arguments: DatabaseKind.available)
  func failure(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let connection = try await database.connect()
    let first = ["CREATE TABLE t (a BIGINT NOT NULL)"]
    try await SQLSchema.migrate(connection, by: [first])
    await #expect(throws: SQLError.self) {
      try await SQLSchema.migrate(connection, by: [first, ["CREATE TABLE u (a BIGINT)", "CREATE TABLE t (a BIGINT)"]])
    }
    #expect(try await version(connection) == 1)
    let missing = await #expect(throws: SQLError.self) { try await connection.execute("SELECT a FROM u") }
    #expect(missing?.kind == .other)
  }

  @Test("The schema of the next version is used, a later one is refused", arguments: DatabaseKind.available)
  func later(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let connection = try await database.connect()
    let one = ["CREATE TABLE t (a BIGINT NOT NULL)"]
    let two = ["CREATE TABLE u (a BIGINT NOT NULL)"]
    let three = ["CREATE TABLE v (a BIGINT NOT NULL)"]
    try await SQLSchema.migrate(connection, by: [one, two])
    try await SQLSchema.migrate(connection, by: [one])
    #expect(try await version(connection) == 2)
    try await SQLSchema.migrate(connection, by: [one, two, three])
    let error = await #expect(throws: SQLError.self) { try await SQLSchema.migrate(connection, by: [one]) }
    #expect(error?.kind == .tooNew)
    #expect(error?.description.contains("version 3") == true)
  }

  @Test("Programs that begin at once make the tables once", arguments: DatabaseKind.available)
  func concurrency(_ kind: DatabaseKind) async throws {
    let database = try databases.make(kind)
    let versions = try await withThrowingTaskGroup(of: [SQLRow].self) { group in
      for _ in 0..<8 {
        group.addTask {
          let store = try await database.open()
          let rows = try await store.connection.execute("SELECT version FROM schema_version ORDER BY version")
          await store.connection.close()
          return rows
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(versions.count == 8)
    for rows in versions { #expect(try rows.map { try $0.integer("version") } == Array(1...SQLSchema.version)) }
  }

  @Test("Texts are sorted by their bytes, whatever the locale is", arguments: DatabaseKind.available)
  func order(_ kind: DatabaseKind) async throws {
    let connection = try await databases.make(kind).connect()
    try await SQLSchema.migrate(
      connection, by: [["CREATE TABLE t (a TEXT NOT NULL)"], ["ALTER TABLE t ADD COLUMN b TEXT"]])
    let names = ["B", "a", "_", "Z-1", "Z1", "é", "z", "a b", "ab", "🎥", ""]
    for name in names {
      try await connection.execute("INSERT INTO t (a, b) VALUES ($1, $1)", [.text(name)])
    }
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    for column in ["a", "b"] {
      let rows = try await connection.execute("SELECT \(column) FROM t ORDER BY \(column)")
      #expect(try rows.map { try $0.text(column) } == sorted)
      let greater = try await connection.execute("SELECT a FROM t WHERE \(column) > $1", [.text("a")])
      #expect(greater.count == sorted.count { $0.utf8.lexicographicallyPrecedes("a".utf8) == false && $0 != "a" })
    }
  }

  @Test("Migrations only add")
  func onlyAdd() {
    for statement in SQLSchema.migrations.joined() {
      let words = statement.split(whereSeparator: \.isWhitespace).map { $0.uppercased() }
      let beginning = words.prefix(3).joined(separator: " ")
      let adds =
        beginning.hasPrefix("CREATE TABLE") || beginning.hasPrefix("CREATE INDEX")
        || beginning.hasPrefix("CREATE UNIQUE INDEX") || beginning.hasPrefix("INSERT INTO")
        || (beginning.hasPrefix("ALTER TABLE") && words.dropFirst(3).starts(with: ["ADD", "COLUMN"]))
      #expect(adds, "\(statement)")
      if beginning.hasPrefix("ALTER TABLE"), words.contains("NOT") {
        #expect(words.contains("DEFAULT"), "\(statement)")
      }
      for word in ["AUTOINCREMENT", "WITHOUT", "STRICT", "DATETIME", "BLOB"] {
        #expect(!words.contains(word), "\(word) is of SQLite only: \(statement)")
      }
    }
  }
}
