/// The database of jobs. Its calls are in extensions: what the API asks, what the supervisor does, what is stored.
package final class JobStore: Sendable {
  package let connection: any SQLConnection
  /// How long a node has a job without saying that it is there, in milliseconds.
  package let lease: Int64

  /// How long leases are in a service.
  package static let standardLease: Int64 = 30_000

  /// - Parameter connection: to a database whose schema is that of this program: see ``SQLSchema/migrate(_:)``.
  package init(_ connection: any SQLConnection, lease: Int64 = standardLease) {
    self.connection = connection
    self.lease = lease
  }

  /// Opens a file of SQLite, creates it if it is missing, and brings its schema up to date.
  ///
  /// - Parameter observe: called with each statement and transaction, on the connection's thread.
  /// - Throws: an `SQLError`.
  package static func open(
    _ path: String, observe: @escaping @Sendable (SQLOperation) -> Void = { _ in }
  ) async throws -> JobStore {
    let connection = try await SQLiteConnection.open(path, observe: observe)
    do {
      try await SQLSchema.migrate(connection)
    } catch {
      await connection.close()
      throw error
    }
    return JobStore(connection)
  }

  /// Connects to a database of PostgreSQL and brings its schema up to date. Several programs may do so at once.
  ///
  /// - Parameter observe: called with each statement and transaction, on a thread of a connection.
  /// - Throws: an `SQLError`, with the kind `unreachable` if there is no connection after some seconds.
  package static func open(
    _ settings: PostgreSQLSettings, observe: @escaping @Sendable (SQLOperation) -> Void = { _ in }
  ) async throws -> JobStore {
    try await migrate(settings)
    return connecting(to: settings, observe: observe)
  }

  /// Brings the schema of a database of PostgreSQL up to date. Several programs may do so at once.
  ///
  /// - Throws: an `SQLError`, with the kind `unreachable` if there is no connection after some seconds.
  package static func migrate(_ settings: PostgreSQLSettings) async throws {
    // Only migrations may take minutes.
    let migrating = PostgreSQLConnection(settings.forMigrations)
    do {
      try await SQLSchema.migrate(migrating)
    } catch {
      await migrating.close()
      throw error
    }
    await migrating.close()
  }

  /// Returns a store that connects with its first statement. Its schema must be that of this program by then: see ``migrate(_:)``.
  package static func connecting(
    to settings: PostgreSQLSettings, observe: @escaping @Sendable (SQLOperation) -> Void = { _ in }
  ) -> JobStore {
    JobStore(PostgreSQLConnection(settings, observe: observe))
  }
}
