/// The tables and the migrations that make them.
///
/// A migration only adds: tables, indexes, and columns that have a default. So the program of the version before it goes on
/// working with the schema, and an upgrade can be undone. The types are those of both databases: SQLite takes `BIGINT` as
/// an integer and leaves `BYTEA` as it is. PostgreSQL gets texts that are compared by their bytes: see ``SQLDialect``.
package enum SQLSchema {
  /// The version of the schema that this program makes.
  package static var version: Int64 { Int64(migrations.count) }

  /// Brings the database to ``version``, or leaves it at the next one.
  ///
  /// - Throws: an `SQLError` of the kind `tooNew` if the schema is that of a later version than the next one.
  package static func migrate(_ connection: any SQLConnection) async throws {
    try await migrate(connection, by: migrations)
  }

  /// - Parameter migrations: the statements of each version, from 1.
  package static func migrate(_ connection: any SQLConnection, by migrations: [[String]]) async throws {
    try await createVersionTable(connection)
    try await connection.transaction { transaction in
      // Programs that begin at the same time go one after the other.
      if let lock = transaction.dialect.lock(table: "schema_version") { try transaction.execute(lock) }
      let found = try transaction.execute("SELECT MAX(version) AS version FROM schema_version")
      let version = try found.first?.optionalInteger("version") ?? 0
      let known = Int64(migrations.count)
      guard version <= known + 1 else {
        throw SQLError(
          .tooNew,
          """
          The database has the schema of version \(version); this program knows up to \(known), and works with \(known + 1).
          """)
      }
      for (index, statements) in migrations.enumerated() where Int64(index) >= version {
        for statement in statements { try transaction.execute(statement) }
        try transaction.execute("INSERT INTO schema_version (version) VALUES ($1)", [.integer(index + 1)])
      }
    }
  }

  private static func createVersionTable(_ connection: any SQLConnection) async throws {
    for attempt in 1... {
      do {
        try await connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
        return
      } catch let error as SQLError where error.kind == .constraint && attempt < 5 {
        // PostgreSQL finds, while it makes the table, that another program has made it.
        continue
      }
    }
  }

  /// The statements of each version. What a release has made is never changed.
  package static let migrations: [[String]] = [firstVersion, secondVersion, thirdVersion, fourthVersion]
}
