import Foundation
import Logging
import ObjectStore
import SQLStore
import Service
import Testing

/// Keys that cannot be used.
@Suite("Conflicts of keys, and keys that are too long")
struct ConflictTests {
  private func types(_ fixture: StoringFixture) async throws -> [(type: String, data: String)] {
    let store = try await JobStore.open("\(fixture.path)/service.db")
    let events = try await store.events(project: "p", job: fixture.job, limit: 1_000)
    await (store.connection as? SQLiteConnection)?.close()
    return events.map { ($0.type, $0.data) }
  }

  @Test("A key with another content stays as it is; the log and an event name it and the key that the file got")
  func conflict() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    let taken = "\(fixture.prefix)/2-bbb/Ann.webm"
    try fixture.write("of somebody else", to: "\(fixture.path)/store/\(taken)")
    let log = RecordedLog()
    try await fixture.withStorer(logger: log.logger) { storer, _ in try await storer.store(fixture.job) }
    #expect(fixture.content("2-bbb/Ann.webm") == Array("of somebody else".utf8))
    #expect(fixture.content("2-bbb/2/Ann.webm") == Array("frames of u in 2".utf8))
    #expect(fixture.document?.complete == true)
    let events = try await types(fixture)
    let conflicts = events.filter { $0.type == "recording.conflict" }.map(\.data)
    #expect(
      conflicts == [
        #"{"attempt":2,"name":"Ann.webm","object":"\#(fixture.prefix)/2-bbb/2/Ann.webm","taken":"\#(taken)"}"#
      ])
    // The event of the file follows, in the same transaction.
    let index = try #require(events.firstIndex { $0.type == "recording.conflict" })
    #expect(events[index + 1].type == "recording.file" && events[index + 1].data.contains("2-bbb/2/Ann.webm"))
    let lines = log.all.filter { $0.message.contains(taken) }
    #expect(lines.count == 1 && lines.first?.level == .error && lines.first?.fields["job"] == fixture.job.text)
    // Once, also if it is stored again.
    try await fixture.store()
    #expect(try await types(fixture).count == events.count)
  }

  /// A folder that takes only short keys.
  private final class ShortKeys: ObjectStore {
    let folder: FileObjectStore
    let maximumKeyBytes: Int

    init(_ folder: FileObjectStore, maximumKeyBytes: Int) {
      self.folder = folder
      self.maximumKeyBytes = maximumKeyBytes
    }

    private func check(_ key: ObjectKey) throws {
      guard key.text.utf8.count <= maximumKeyBytes else {
        throw ObjectStoreError(.keyTooLong, "The key is too long.")
      }
    }

    func put(_ file: SourceFile, at key: ObjectKey) async throws -> StoredObject {
      try check(key)
      return try await folder.put(file, at: key)
    }
    func put(_ bytes: [UInt8], at key: ObjectKey) async throws -> StoredObject {
      try check(key)
      return try await folder.put(bytes, at: key)
    }
    func open(_ key: ObjectKey) async throws -> any ObjectReader { try await folder.open(key) }
    func keys(below prefix: ObjectKey) async throws -> [ObjectKey] { try await folder.keys(below: prefix) }
    func delete(_ key: ObjectKey) async throws { try await folder.delete(key) }
    var freeBytes: Int64? { get async throws { nil } }
  }

  private func storer(_ fixture: StoringFixture, _ maximumKeyBytes: Int, _ log: RecordedLog) async throws -> (
    Storer, JobStore
  ) {
    let store = try await JobStore.open("\(fixture.path)/service.db")
    let objects = ShortKeys(try await FileObjectStore.open("\(fixture.path)/store"), maximumKeyBytes: maximumKeyBytes)
    var settings = Storer.Settings(data: fixture.path, program: ["\(fixture.path)/chatbot"])
    settings.template = try ObjectPathTemplate("recordings/{room}/{job}")
    return (Storer(store, objects: objects, settings: settings, logger: log.logger), store)
  }

  @Test("A file whose key is too long is missing in the description; it is said once, and the job ends")
  func tooLong() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    let long = String(repeating: "x", count: 180)
    try fixture.write("a", to: "\(fixture.folder(2))/media/\(long).txt")
    let log = RecordedLog()
    let (storer, store) = try await storer(fixture, 200, log)
    try await storer.store(fixture.job)
    let path = try #require(try await store.storedJob(fixture.job)?.objectPath)
    let text = try Data(contentsOf: URL(fileURLWithPath: "\(fixture.path)/store/\(path)/recording.json"))
    let document = try #require(RecordingDocument(parsing: Array(text)))
    #expect(document.missing.map(\.name) == ["\(long).txt"])
    #expect(document.missing.map(\.reason) == ["The key is too long."])
    #expect(!document.complete && document.users.count == 2)
    #expect(log.all.count { $0.message.contains("too long") } == 1)
    await (store.connection as? SQLiteConnection)?.close()
  }

  @Test("A path that leaves no room for names is replaced by the standard one")
  func longPath() async throws {
    let fixture = try await StoringFixture()
    try fixture.writeCall()
    for (room, limit, prefix) in [("100", 1_024, "recordings/100/"), ("100", 545, "2026-03-01/")] {
      let (storer, store) = try await storer(fixture, limit, RecordedLog())
      try await store.connection.execute("UPDATE jobs SET object_path = NULL, room = $1", [.text(room)])
      let record = try #require(try await store.storedJob(fixture.job))
      try await storer.store(fixture.job)
      let path = try await store.storedJob(record.id)?.objectPath
      #expect(path?.hasPrefix(prefix) == true)
      try await store.connection.execute("UPDATE jobs SET manifest_stored_at = NULL")
      await (store.connection as? SQLiteConnection)?.close()
    }
  }
}
