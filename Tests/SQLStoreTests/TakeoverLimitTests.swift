import JobProtocol
import SQLStore
import Testing

/// A job that may be the cause of what happens to its nodes.
@Suite("Takeovers of a job that brings its nodes down")
struct TakeoverLimitTests {
  private let databases = TemporaryDatabases()

  private let time = DatabaseClock()

  private func open(_ kind: DatabaseKind) async throws -> JobStore {
    let time = time
    let connection = ClockedConnection(try await databases.make(kind).connect(connections: 4)) { time.now }
    try await SQLSchema.migrate(connection)
    return JobStore(connection)
  }

  private func claim(_ store: JobStore, by node: Int) async throws -> JobRecord? {
    try await store.claim(.init(node: "n\(node)", version: "1"), limit: 1).first
  }

  @Test(
    "After five losses of its node in a row a job gets no other attempt, and what it recorded is stored",
    arguments: DatabaseKind.available)
  func limit(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    var last: JobRecord?
    for number in 1...5 {
      last = try await claim(store, by: number)
      #expect(last?.state == .starting && last?.attempt == Int64(number) && last?.failures == Int64(number - 1))
      // The node renews its lease for some time.
      time.advance(20_000)
      #expect(try await store.renewLeases(node: "n\(number)") == [job])
      time.advance(30_001)
    }
    let ended = try #require(try await claim(store, by: 6))
    #expect(ended.id == job && ended.state == .storing && ended.node == "n6" && ended.attempt == 5)
    #expect(ended.reason == "crashing" && ended.attemptID != last?.attemptID)
    #expect(
      ended.sentence
        == "The attempts of the job ended too early 5 times in a row; the last one was lost with the node n5.")
    let attempts = try await store.attempts(of: job)
    #expect(attempts.count == 5 && attempts.allSatisfy { $0.isTakenOver })
    // The node that had it writes nothing more, and the one that has it ends it.
    #expect(try await !store.markRunning(job, attempt: try #require(last?.attemptID)))
    #expect(try await store.attemptsToStore(node: "n5").map(\.number) == [5])
    try await store.finish(job, .failed, .crashing, sentence: "x", attempt: ended.attemptID)
    #expect(try await store.job(job)?.state == .failed)
    #expect(try await claim(store, by: 7) == nil)
  }

  @Test(
    "An attempt that has lived for ten minutes, and one that was handed over, do not count",
    arguments: DatabaseKind.available)
  func longLived(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    for number in 1...4 {
      #expect(try await claim(store, by: number)?.failures == Int64(number - 1))
      time.advance(30_001)
    }
    let fifth = try #require(try await claim(store, by: 5))
    #expect(fifth.failures == 4)
    #expect(try await store.offer(job, attempt: try #require(fifth.attemptID)))
    #expect(try await claim(store, by: 6)?.failures == 4)
    for _ in 0..<30 {
      time.advance(20_000)
      #expect(try await store.renewLeases(node: "n6") == [job])
    }
    time.advance(30_001)
    let next = try #require(try await claim(store, by: 7))
    #expect(next.state == .starting && next.failures == 0 && next.attempt == 7)
  }

  @Test("Processes that ended too early are counted together with nodes that were lost")
  func together() async throws {
    let store = try await open(.sqlite)
    let job = JobID.random()
    try await store.insert(job)
    let first = try #require(try await claim(store, by: 1))
    try await store.connection.execute("UPDATE jobs SET failures = 4 WHERE id = $1", [first.id.value])
    time.advance(30_001)
    #expect(try await claim(store, by: 2)?.state == .storing)
  }
}
