import Foundation
import SQLStore
import Synchronization
import Testing

@Suite("A connection to SQLite")
struct SQLiteConnectionTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

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
}
