import Foundation
import JobProtocol
import ObjectStore
import SQLStore
import Service
import Testing

/// A node with thousands of folders whose files are in the store.
@Suite("What a node asks about its folders")
struct LocalJobsTests {
  private final class Node: Sendable {
    let path: String
    let connection: CuttableConnection
    let store: JobStore
    let storer: Storer

    init(_ kind: TestDatabase) async throws {
      path = FileManager.default.temporaryDirectory.appendingPathComponent("local-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      connection = CuttableConnection(try await kind.open(path))
      store = JobStore(connection)
      var settings = Storer.Settings(data: path, program: ["/bin/false"])
      settings.localRetention = 3_600_000
      settings.node = "a"
      storer = Storer(store, objects: try await FileObjectStore.open("\(path)/store"), settings: settings)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Inserts jobs with an attempt and its folder each, by one statement for a table.
    ///
    /// - Parameter age: how long ago they ended, in milliseconds; nil: they run.
    func add(_ count: Int, age: Int64?, storedAt: Bool = true) async throws -> [JobID] {
      let jobs = (0..<count).map { _ in JobID.random() }
      let (state, end) = age.map { ("finished", "now_ms() - \($0)") } ?? ("running", "NULL")
      let stored = storedAt ? "now_ms() - 9000000" : "NULL"
      try await connection.transaction { transaction in
        for job in jobs {
          try transaction.execute(
            """
            INSERT INTO jobs (id, project, kind, state, paused, request, room, server, created_at, attempt, attempt_id, node,
              ended_at, manifest_stored_at)
            VALUES ($1, 'p', 'record', '\(state)', '{}', '{}', '1', 'main', now_ms(), 1, 'x', 'a', \(end), \(end))
            """, [job.value])
          try transaction.execute(
            """
            INSERT INTO attempts (job, number, attempt_id, version, folder, started_at, node, stored_at)
            VALUES ($1, 1, 'x', '1', $2, 0, 'a', \(stored))
            """, [job.value, .text("jobs/\(job)/1-x")])
        }
      }
      for job in jobs {
        try FileManager.default.createDirectory(
          atPath: "\(path)/jobs/\(job)/1-x/media", withIntermediateDirectories: true)
      }
      return jobs
    }

    var folders: Int { (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/jobs"))?.count ?? 0 }

    func statements(of body: () async throws -> Void) async throws -> Int {
      let before = connection.statements
      try await body()
      return connection.statements - before
    }
  }

  @Test(
    "Copies of 1,500 jobs are looked at by three statements, and leftovers by two",
    arguments: TestDatabase.available)
  func statements(_ kind: TestDatabase) async throws {
    let node = try await Node(kind)
    #expect(try await node.statements { try await node.storer.removeLocalCopies { false } } == 0)
    _ = try await node.add(1_400, age: 1_000)
    let old = try await node.add(20, age: 4_000_000)
    let running = try await node.add(80, age: nil)
    #expect(node.folders == 1_500)
    // Two for the jobs, and one for the files of those that run.
    #expect(try await node.statements { try await node.storer.removeLocalCopies { false } } == 3)
    #expect(node.folders == 1_480)
    for job in old { #expect(!FileManager.default.fileExists(atPath: "\(node.path)/jobs/\(job)")) }
    for job in running { #expect(FileManager.default.fileExists(atPath: "\(node.path)/jobs/\(job)")) }
    // What is stored and described needs no further statement.
    #expect(try await node.statements { try await node.storer.amendLeftovers() } == 2)
    // What is not stored does: it is stored and described, and then it goes.
    let late = try await node.add(1, age: 1_000, storedAt: false)
    #expect(try await node.statements { try await node.storer.amendLeftovers() } > 2)
    #expect(!FileManager.default.fileExists(atPath: "\(node.path)/jobs/\(late[0])"))
  }

  @Test("Folders that are of no job stay, and are no reason to fail")
  func strangers() async throws {
    let node = try await Node(.sqlite)
    for name in ["lost+found", "\(JobID.random())"] {
      try FileManager.default.createDirectory(atPath: "\(node.path)/jobs/\(name)", withIntermediateDirectories: true)
    }
    let removed = try await node.storer.removeLocalCopies { true }
    #expect(removed == 0 && node.folders == 2)
  }
}
