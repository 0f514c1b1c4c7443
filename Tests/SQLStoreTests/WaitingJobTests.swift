import SQLStore
import Testing

@Suite("Jobs that wait for a node with room")
struct WaitingJobTests {
  private let databases = TemporaryDatabases()
  private let clock = DatabaseClock()

  private func open(_ kind: DatabaseKind) async throws -> JobStore {
    let clock = clock
    let connection = ClockedConnection(try await databases.make(kind).connect(connections: 1)) { clock.now }
    try await SQLSchema.migrate(connection)
    return JobStore(connection)
  }

  private func submit(
    _ state: JobState, startAt: Int64? = nil, queueFor: Int64, to store: JobStore
  ) async throws -> JobID {
    var job = NewJob(
      id: .random(), project: "p", kind: "record", state: state, paused: "{}", request: "{}", room: "1", server: "main",
      startAt: startAt)
    job.queueFor = queueFor
    _ = try await store.submit(job)
    return job.id
  }

  private func end(_ count: Int, in store: JobStore) async throws {
    #expect(try await store.endTiredJobs(sentence: "There is no room.") == count)
  }

  @Test("One whose wait is over is begun by no node, and ends", arguments: DatabaseKind.available)
  func queued(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = try await submit(.queued, queueFor: 1_000, to: store)
    clock.advance(999)
    let before = try await store.look(node: "a", takesOver: true)
    #expect(before.jobs && !before.endings)
    clock.advance(1)
    #expect(try await !store.look(node: "a", takesOver: true).jobs)
    #expect(try await store.claim(.init(node: "a", version: "1"), limit: 1).isEmpty)
    clock.advance(5_001)
    #expect(try await store.look(node: "a", takesOver: true).endings)
    try await end(1, in: store)
    let ended = try #require(try await store.job(job))
    #expect(ended.state == .failed && ended.reason == "noCapacity" && ended.attempt == 0)
  }

  @Test("One that became due has some seconds until each node has looked", arguments: DatabaseKind.available)
  func due(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let first = try await submit(.scheduled, startAt: clock.now + 1_000, queueFor: 0, to: store)
    clock.advance(3_000)
    try await end(0, in: store)
    #expect(try await store.claim(.init(node: "a", version: "1"), limit: 1).map(\.id) == [first])
    let second = try await submit(.scheduled, startAt: clock.now + 1_000, queueFor: 0, to: store)
    clock.advance(6_001)
    try await end(1, in: store)
    #expect(try await store.job(second)?.reason == "noCapacity")
  }
}
