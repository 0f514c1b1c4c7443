import SQLStore
import Testing

@Suite("The rows of what is stored")
struct JobStoreStoringTests {
  private let databases = TemporaryDatabases()
  private let job = JobID.random()

  private func open(_ kind: DatabaseKind) async throws -> JobStore {
    let store = try await databases.make(kind).open()
    try await store.insert(job)
    try await store.connection.execute(
      """
      INSERT INTO attempts (job, number, attempt_id, version, folder, started_at)
      VALUES ($1, 1, 'abc', '1', 'f', now_ms())
      """, [job.value])
    return store
  }

  private func file(_ name: String) -> FileRecord {
    FileRecord(
      job: job, attempt: 1, name: name, object: "d/\(job)/1-abc/\(name)", kind: "webm", user: "u", stream: 1, start: 5,
      duration: 7, bytes: 9, sha256: "00")
  }

  @Test("A file is noted once, with one event, and not for another attempt", arguments: DatabaseKind.available)
  func note(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    #expect(try await store.note(file("a.webm"), ofAttempt: "abc", event: "{}"))
    #expect(try await !store.note(file("a.webm"), ofAttempt: "abc", event: "{}"))
    #expect(try await !store.note(file("b.webm"), ofAttempt: "other", event: "{}"))
    #expect(try await store.note(file("log.ndjson"), ofAttempt: "abc", event: nil))
    let events = try await store.events(project: "p", job: job, limit: 10)
    #expect(events.map(\.type) == ["recording.file"])
    #expect(events.map(\.sequence) == [1])
    let files = try await store.files(of: job)
    #expect(files.map(\.name) == ["a.webm", "log.ndjson"])
    #expect(files.first?.user == "u")
    #expect(files.first?.duration == 7)
    #expect((files.first?.storedAt ?? 0) > 0)
  }

  @Test("A note that is interrupted leaves neither the row nor the event", arguments: DatabaseKind.available)
  func interrupted(_ kind: DatabaseKind) async throws {
    struct Stop: Error {}
    let store = try await open(kind)
    await #expect(throws: Stop.self) {
      try await store.note(file("a.webm"), ofAttempt: "abc", event: "{}") { throw Stop() }
    }
    #expect(try await store.files(of: job).isEmpty)
    #expect(try await store.events(project: "p", job: job, limit: 10).isEmpty)
    #expect(try await store.note(file("a.webm"), ofAttempt: "abc", event: "{}"))
    #expect(try await store.events(project: "p", job: job, limit: 10).map(\.sequence) == [1])
  }

  @Test("The path of a recording stays as it was first", arguments: DatabaseKind.available)
  func path(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    #expect(try await store.fixObjectPath("a/1", of: job) == "a/1")
    #expect(try await store.fixObjectPath("b/1", of: job) == "a/1")
    #expect(try await store.fixObjectPath("b/1", of: .random()) == nil)
  }

  @Test("A recording is finished once and deleted once, and old ones are due", arguments: DatabaseKind.available)
  func deletion(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    #expect(try await store.noteManifest(of: job, event: "{}"))
    #expect(try await !store.noteManifest(of: job, event: "{}"))
    #expect(try await store.expireRecordings(age: 0) == 0)
    try await store.connection.execute(
      "UPDATE jobs SET state = 'finished', ended_at = now_ms() - 1000 WHERE id = $1", [job.value])
    #expect(try await store.expireRecordings(age: 60_000) == 0)
    #expect(try await store.deletionsToDo(limit: 10).isEmpty)
    #expect(try await store.expireRecordings(age: 500) == 1)
    #expect(try await store.expireRecordings(age: 500) == 0)
    #expect(try await store.deletionsToDo(limit: 10).map(\.id) == [job])
    try await store.noteDeletion(of: job)
    try await store.noteDeletion(of: job)
    #expect(try await store.deletionsToDo(limit: 10).isEmpty)
    #expect(try await store.storedJob(job)?.deleted == true)
    let types = try await store.events(project: "p", job: job, limit: 10).map(\.type)
    #expect(types == ["recording.finished", "recording.deleted"])
  }

  @Test(
    "Events of a hundred jobs at once have ids without holes, and sequences of their own",
    arguments: DatabaseKind.available)
  func events(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let jobs = (0..<100).map { _ in JobID.random() }
    for job in jobs { try await store.insert(job) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for job in jobs {
        group.addTask {
          for _ in 0..<3 {
            try await store.connection.transaction { transaction in
              _ = try transaction.append(.participantJoined, of: job, data: "{}")
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let events = try await store.events(project: "p", limit: 1_000)
    #expect(events.map(\.id) == Array(1...300))
    for job in jobs { #expect(events.filter { $0.job == job }.map(\.sequence) == [1, 2, 3]) }
  }
}

@Suite("Uploads in parts that have begun")
struct JobStoreUploadTests {
  @Test("An upload is noted, replaced and forgotten, and is there after the database was opened again")
  func uploads() async throws {
    let database = try TemporaryDatabase()
    let store = try await database.open()
    #expect(try await store.upload(of: "d/a") == nil)
    try await store.noteUpload("first", of: "d/a")
    try await store.noteUpload("second", of: "d/a")
    try await store.noteUpload("other", of: "d/b")
    try await store.noteUpload("beside", of: "d2/a")
    #expect(try await store.uploads(below: "d") == ["d/a", "d/b"])
    let again = try await database.open()
    #expect(try await again.upload(of: "d/a") == "second")
    try await again.forgetUpload(of: "d/a")
    try await again.forgetUpload(of: "d/none")
    #expect(try await store.upload(of: "d/a") == nil)
    #expect(try await store.upload(of: "d/b") == "other")
  }
}
