import Foundation
import SQLStore

/// A database in a folder of its own, which is removed at the end.
final class TemporaryDatabase: Sendable {
  let folder: String
  var path: String { "\(folder)/service.db" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("sql-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// Opens the database with all migrations.
  func open() async throws -> JobStore { try await JobStore.open(path) }
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
