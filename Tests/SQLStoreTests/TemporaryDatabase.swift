import Foundation
import SQLStore
import Synchronization
import TestSupport
import Testing

/// What the tests of the store run on.
enum DatabaseKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
  case sqlite
  case postgreSQL
  /// PostgreSQL behind pgbouncer in transaction mode.
  case pooler

  /// Those that are installed: see `PostgreSQLInstallationTests`.
  static let available = allCases.filter { kind in
    switch kind {
    case .sqlite: true
    case .postgreSQL: PostgreSQLServer.isInstalled
    case .pooler: PostgreSQLServer.isInstalled && PostgreSQLPooler.isInstalled
    }
  }

  var testDescription: String { rawValue }
}

/// An empty database: a file in a folder of its own, which is removed at the end, or one of a server that all tests share.
final class TemporaryDatabase: Sendable {
  let kind: DatabaseKind
  let folder: String
  var path: String { "\(folder)/service.db" }
  /// The URL of the database; empty for SQLite.
  let url: String

  init(_ kind: DatabaseKind = .sqlite) throws {
    self.kind = kind
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("sql-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    switch kind {
    case .sqlite: url = ""
    case .postgreSQL:
      let server = try PostgreSQLServer.shared.get()
      url = server.url(try server.makeDatabase())
    case .pooler:
      let pooler = try PostgreSQLPooler.shared.get()
      url = pooler.url(try PostgreSQLServer.shared.get().makeDatabase())
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Connects, and makes no tables.
  func connect(
    connections: Int = 4, listens: Bool = false, limits: PostgreSQLSettings.Limits = .init(),
    observe: @escaping @Sendable (SQLOperation) -> Void = { _ in }
  ) async throws -> any SQLConnection {
    if kind == .sqlite { return try await SQLiteConnection.open(path, observe: observe) }
    return PostgreSQLConnection(
      try PostgreSQLSettings(url: url, connections: connections, listens: listens, limits: limits), observe: observe)
  }

  /// Connects to a database with all migrations.
  func open() async throws -> JobStore {
    if kind == .sqlite { return try await JobStore.open(path) }
    return try await JobStore.open(try PostgreSQLSettings(url: url, listens: false))
  }
}

/// The databases of a test, which are kept until it ends.
final class TemporaryDatabases: Sendable {
  private let made = Mutex<[TemporaryDatabase]>([])

  func make(_ kind: DatabaseKind) throws -> TemporaryDatabase {
    let database = try TemporaryDatabase(kind)
    made.withLock { $0.append(database) }
    return database
  }
}

extension JobStore {
  /// Inserts a job.
  func insert(_ id: JobID, key: String? = nil, state: JobState = .queued) async throws {
    try await connection.execute(
      """
      INSERT INTO jobs (id, project, kind, state, paused, request, room, server, unique_key, created_at)
      VALUES ($1, 'p', 'record', $2, '{}', '{}', '100', 'main', $3, now_ms())
      """, [id.value, .text(state.rawValue), .text(key)])
  }
}
