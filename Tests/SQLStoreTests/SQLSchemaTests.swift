import SQLStore
import Testing

@Suite("The schema of the database")
struct SQLSchemaTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  private func version(_ connection: any SQLConnection) async throws -> Int64? {
    try await connection.execute("SELECT MAX(version) AS version FROM schema_version").first?.integer("version")
  }

  @Test("A new database gets all migrations, and opening it again changes nothing")
  func new() async throws {
    let store = try await database.open()
    #expect(try await version(store.connection) == SQLSchema.version)
    await (store.connection as? SQLiteConnection)?.close()
    let again = try await database.open()
    let rows = try await again.connection.execute("SELECT version FROM schema_version")
    #expect(rows.count == Int(SQLSchema.version))
  }

  @Test("A migration adds to the rows of the version before it")
  func migration() async throws {
    let connection = try await SQLiteConnection.open(database.path)
    let first = ["CREATE TABLE t (a BIGINT NOT NULL)", "INSERT INTO t (a) VALUES (1)"]
    let second = ["ALTER TABLE t ADD COLUMN b TEXT NOT NULL DEFAULT 'x'"]
    try await SQLSchema.migrate(connection, by: [first])
    try await SQLSchema.migrate(connection, by: [first, second])
    #expect(try await version(connection) == 2)
    #expect(try await connection.execute("SELECT b FROM t").first?.text("b") == "x")
  }

  @Test("A migration that fails leaves the database as it was")
  func failure() async throws {
    let connection = try await SQLiteConnection.open(database.path)
    let first = ["CREATE TABLE t (a BIGINT NOT NULL)"]
    try await SQLSchema.migrate(connection, by: [first])
    await #expect(throws: SQLError.self) {
      try await SQLSchema.migrate(connection, by: [first, ["CREATE TABLE u (a BIGINT)", "CREATE TABLE t (a BIGINT)"]])
    }
    #expect(try await version(connection) == 1)
    #expect(try await connection.execute("SELECT name FROM sqlite_master WHERE name = 'u'").isEmpty)
  }

  @Test("The schema of the next version is used, a later one is refused")
  func later() async throws {
    let connection = try await SQLiteConnection.open(database.path)
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
