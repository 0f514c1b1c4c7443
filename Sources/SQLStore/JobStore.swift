/// The database of jobs. Its calls are in extensions: what the API asks, what the supervisor does, what is stored.
package final class JobStore: Sendable {
  package let connection: any SQLConnection

  /// - Parameter connection: to a database whose schema is that of this program: see ``SQLSchema/migrate(_:)``.
  package init(_ connection: any SQLConnection) { self.connection = connection }

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
}
