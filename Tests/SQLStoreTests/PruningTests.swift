import JobProtocol
import SQLStore
import Testing

@Suite("Forgetting jobs that ended long ago")
struct PruningTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  private static let age: Int64 = 1_000_000

  /// Inserts a job with an attempt, an event, a command and a label, that ended so many milliseconds ago.
  private func insert(_ store: JobStore, endedFor: Int64?, path: String? = nil, deletedFor: Int64? = nil) async throws
    -> JobID
  {
    let job = JobID.random()
    try await store.insert(job, state: endedFor == nil ? .running : .finished)
    try await store.connection.execute(
      """
      UPDATE jobs SET ended_at = now_ms() - $2, object_path = $3, delete_requested_at = now_ms() - $4, deleted = $5,
        reason = 'stopped' WHERE id = $1
      """,
      [job.value, .integer(endedFor), .text(path), .integer(deletedFor), .truth(deletedFor != nil)])
    for number in 1...2 {
      try await store.connection.execute(
        """
        INSERT INTO attempts (job, number, attempt_id, version, folder, started_at)
        VALUES ($1, $2, $3, '1', 'f', now_ms())
        """, [job.value, .integer(number), .text("\(job)\(number)")])
    }
    try await store.connection.execute(
      "INSERT INTO labels (job, name, value) VALUES ($1, 'a', 'b')", [job.value])
    try await store.connection.transaction { transaction in
      try transaction.append(.jobStarted, of: job)
      try transaction.execute(
        "INSERT INTO commands (id, job, kind, argument, created_at) VALUES ($1, $2, 'stop', '{}', now_ms())",
        [.integer(try transaction.next(.commands)), job.value])
    }
    return job
  }

  @Test("A job is forgotten with all its rows after its time, and its sums remain")
  func forgotten() async throws {
    let store = try await database.open()
    let old = try await insert(store, endedFor: Self.age + 1_000)
    let young = try await insert(store, endedFor: Self.age - 60_000)
    let running = try await insert(store, endedFor: nil)
    let newest = try await store.newestEvent()
    let before = (try await store.attemptCount(), try await store.countsByReason())
    #expect(before.0 == 6 && before.1 == ["stopped": 2])
    #expect(try await store.pruneJobs(age: Self.age) == (1, false))
    #expect(try await store.job(old) == nil)
    #expect(try await store.job(young) != nil)
    #expect(try await store.job(running) != nil)
    for table in JobStore.tablesOfJobs {
      let rows = try await store.connection.execute("SELECT * FROM \(table) WHERE job = $1", [old.value])
      #expect(rows.isEmpty)
    }
    let events = try await store.events(project: "p", limit: 10)
    #expect(events.map(\.job) == [young, running])
    #expect(try await store.newestEvent() == newest)
    #expect(try await store.attemptCount() == 6)
    #expect(try await store.countsByReason() == ["stopped": 2])
    #expect(try await store.pruneJobs(age: Self.age) == (0, false))
  }

  @Test("A job whose recording is kept, or was deleted a short time ago, is not forgotten")
  func recordings() async throws {
    let store = try await database.open()
    let kept = try await insert(store, endedFor: 2 * Self.age, path: "a")
    let deleted = try await insert(store, endedFor: 2 * Self.age, path: "b", deletedFor: 1_000)
    let longDeleted = try await insert(store, endedFor: 2 * Self.age, path: "c", deletedFor: Self.age + 1_000)
    #expect(try await store.pruneJobs(age: Self.age).count == 1)
    #expect(try await store.job(kept) != nil)
    #expect(try await store.job(deleted) != nil)
    #expect(try await store.job(longDeleted) == nil)
  }

  @Test("Every table that refers to jobs is named, unless the database deletes its rows with theirs")
  func tables() async throws {
    let store = try await database.open()
    let rows = try await store.connection.execute(
      """
      SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%REFERENCES jobs%'
        AND sql NOT LIKE '%REFERENCES jobs (id) ON DELETE CASCADE%'
      """)
    #expect(Set(try rows.map { try $0.text("name") }) == Set(JobStore.tablesOfJobs))
  }

  @Test("A job with a webhook that is still to be sent is forgotten when that has ended")
  func webhooks() async throws {
    let store = try await database.open()
    let job = try await insert(store, endedFor: 2 * Self.age)
    let event = try #require(try await store.events(project: "p", job: job, limit: 1).first)
    try await store.connection.execute(
      """
      INSERT INTO deliveries
        (event, webhook, project, job, sequence, type, attempt, state, created_at, next_at, expires_at)
      VALUES ($1, 0, 'p', $2, 1, 'job.started', 1, 'pending', now_ms(), now_ms(), now_ms() + 1000)
      """, [.integer(event.id), job.value])
    #expect(try await store.pruneJobs(age: Self.age).count == 0)
    try await store.connection.execute("UPDATE deliveries SET state = 'dead'")
    #expect(try await store.pruneJobs(age: Self.age).count == 1)
    #expect(try await store.connection.execute("SELECT * FROM deliveries").isEmpty)
  }

  @Test("Many jobs are forgotten in several transactions")
  func many() async throws {
    let store = try await database.open()
    for _ in 0..<130 { _ = try await insert(store, endedFor: 2 * Self.age) }
    #expect(try await store.pruneJobs(age: Self.age) == (100, true))
    #expect(try await store.pruneJobs(age: Self.age) == (30, false))
    #expect(try await store.attemptCount() == 260)
  }
}
