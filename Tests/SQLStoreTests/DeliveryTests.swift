import SQLStore
import Synchronization
import Testing

@Suite("The outbox")
struct DeliveryTests {
  /// A clock that a test moves.
  private final class Clock: Sendable {
    private let time = Mutex<Int64>(1_700_000_000_000)
    var now: Int64 { time.withLock { $0 } }
    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
  }

  /// What several services have sent.
  private final class Sent: Sendable {
    private let sequences = Mutex<[JobID: [Int64]]>([:])
    var all: [JobID: [Int64]] { sequences.withLock { $0 } }
    func append(_ delivery: DeliveryRecord) {
      sequences.withLock { $0[delivery.job, default: []].append(delivery.sequence) }
    }
  }

  private let databases = TemporaryDatabases()
  private let clock = Clock()
  private let job = JobID.random()

  private func open(
    _ kind: DatabaseKind, _ webhooks: [NewWebhook] = [Self.webhook()]
  ) async throws -> JobStore {
    let clock = clock
    let connection = ClockedConnection(try await databases.make(kind).connect(connections: 8)) { clock.now }
    try await SQLSchema.migrate(connection)
    let store = JobStore(connection)
    _ = try await store.submit(Self.new(job, webhooks))
    return store
  }

  private static func new(_ id: JobID, _ webhooks: [NewWebhook], project: String = "p") -> NewJob {
    NewJob(
      id: id, project: project, kind: "record", state: .queued, paused: "{}", request: "{}", room: "100",
      server: "main",
      labels: ["meeting": "42"], webhooks: webhooks)
  }

  private static func webhook(_ name: String = "a", _ patterns: String...) -> NewWebhook {
    NewWebhook(
      url: "https://\(name).example/", origin: "https://\(name).example:443",
      events: patterns.isEmpty ? [.all] : patterns.compactMap { EventPattern($0) }, secret: "app")
  }

  @discardableResult
  private func append(_ type: JobEventType, of job: JobID? = nil, in store: JobStore) async throws -> Int64 {
    let job = job ?? self.job
    return try await store.connection.transaction { try $0.append(type, of: job, data: #"{"a":1}"#)?.id ?? 0 }
  }

  private func claim(_ store: JobStore, limit: Int = 10, notTo: [String] = []) async throws -> [DueDelivery] {
    try await store.claimDeliveries(limit: limit, for: 30_000, notTo: notTo)
  }

  @Test func `patterns fit types as they say`() throws {
    let all = JobEventType.allCases.map(\.rawValue)
    #expect(all.allSatisfy { EventPattern.all.matches($0) })
    let job = try #require(EventPattern("job.*"))
    #expect(all.filter(job.matches) == all.filter { $0.hasPrefix("job.") })
    let one = try #require(EventPattern("recording.finished"))
    #expect(all.filter(one.matches) == ["recording.finished"])
    for text in [
      "", "job", "job*", "j*", "*.started", "job.**", "job.", "nothing.*", "Job.*", "job.started ", "job.startedx",
      "**",
    ] {
      #expect(EventPattern(text) == nil, "\(text)")
    }
    #expect(EventPattern(String(repeating: "a", count: 100)) == nil)
  }

  @Test func `ids of deliveries are read as they are written, and nothing else is`() {
    #expect(DeliveryID("d17n3") == DeliveryID(event: 17, webhook: 3))
    for text in [
      "", "d", "d1", "dn1", "d1n", "d01n1", "d1n01", "d-1n1", "d1n1n1", "e1n1", "d1n1 ", "d9999999999999999999n1",
    ] {
      #expect(DeliveryID(text) == nil, "\(text)")
    }
  }

  @Test(arguments: DatabaseKind.available)
  func `an event becomes a delivery for each receiver that wants it, and goes with its transaction`(kind: DatabaseKind)
    async throws
  {
    struct Stop: Error {}
    let store = try await open(
      kind, [Self.webhook("a", "job.*"), Self.webhook("b", "recording.finished", "participant.*")])
    try await append(.jobStarted, in: store)
    try await append(.participantJoined, in: store)
    try await append(.jobFinished, in: store)
    let job = job
    await #expect(throws: Stop.self) {
      try await store.connection.transaction { transaction in
        _ = try transaction.append(.recordingFinished, of: job)
        throw Stop()
      }
    }
    let deliveries = try await store.deliveries(project: "p", limit: 10)
    #expect(deliveries.map(\.id.description) == ["d3n0", "d2n1", "d1n0"])
    #expect(deliveries.map(\.url) == ["https://a.example/", "https://b.example/", "https://a.example/"])
    #expect(deliveries.allSatisfy { $0.state == .pending && $0.expiresAt - $0.createdAt == 86_400_000 })
    let due = try await claim(store)
    #expect(due.map(\.delivery.id.description) == ["d1n0", "d2n1"])
    #expect(due.first?.labels == ["meeting": "42"])
    #expect(due.first?.room == "100")
    #expect(due.first?.kind == "record")
    #expect(due.first?.data == #"{"a":1}"#)
    #expect(due.first?.origin == "https://a.example:443")
  }

  @Test(arguments: DatabaseKind.available)
  func `the next event of a job is sent to a receiver when the one before was delivered`(kind: DatabaseKind)
    async throws
  {
    let store = try await open(kind)
    for type in [JobEventType.jobStarted, .participantJoined, .jobFinished] { try await append(type, in: store) }
    for sequence in 1...3 {
      let due = try await claim(store)
      #expect(due.map(\.delivery.sequence) == [Int64(sequence)])
      #expect(try await claim(store).isEmpty)
      #expect(try await store.deliverySucceeded(due[0].delivery, status: 204))
      #expect(try await !store.deliverySucceeded(due[0].delivery, status: 204))
    }
    #expect(try await claim(store).isEmpty)
    #expect(
      try await store.deliveries(project: "p", limit: 9).allSatisfy { $0.state == .delivered && $0.status == 204 })
  }

  @Test(arguments: DatabaseKind.available)
  func `one receiver that fails keeps back only its own events of its job`(kind: DatabaseKind) async throws {
    let store = try await open(kind, [Self.webhook("a"), Self.webhook("b")])
    let other = JobID.random()
    _ = try await store.submit(Self.new(other, [Self.webhook("a")]))
    try await append(.jobStarted, in: store)
    try await append(.jobFinished, in: store)
    try await append(.jobStarted, of: other, in: store)
    let due = try await claim(store)
    #expect(due.map(\.delivery.id.description) == ["d1n0", "d1n1", "d3n0"])
    let state = try await store.deliveryFailed(due[0].delivery, status: 500, error: "No.", retryAfter: 1_000)
    #expect(state == .pending)
    try await store.deliverySucceeded(due[1].delivery, status: 200)
    try await store.deliverySucceeded(due[2].delivery, status: 200)
    #expect(try await claim(store).map(\.delivery.id.description) == ["d2n1"])
    clock.advance(999)
    #expect(try await claim(store).isEmpty)
    clock.advance(1)
    #expect(try await claim(store).map(\.delivery.id.description) == ["d1n0"])
  }

  @Test(arguments: DatabaseKind.available)
  func `an event of a job whose receiver waits for a try waits as long`(kind: DatabaseKind) async throws {
    let store = try await open(kind)
    try await append(.jobStarted, in: store)
    let first = try await claim(store)[0]
    try await store.deliveryFailed(first.delivery, status: nil, error: "No.", retryAfter: 60_000)
    try await append(.jobFinished, in: store)
    let waiting = try await store.deliveries(project: "p", limit: 2)
    #expect(waiting.map(\.nextAt) == [clock.now + 60_000, clock.now + 60_000])
    clock.advance(60_000)
    let again = try await claim(store)
    #expect(again.map(\.delivery.tries) == [1])
    try await store.deliverySucceeded(again[0].delivery, status: 200)
    #expect(try await claim(store).map(\.delivery.sequence) == [2])
  }

  @Test(arguments: DatabaseKind.available)
  func `a claim ends by itself, and its late result changes nothing`(kind: DatabaseKind) async throws {
    let store = try await open(kind)
    try await append(.jobStarted, in: store)
    let lost = try await claim(store)[0].delivery
    clock.advance(29_999)
    #expect(try await claim(store).isEmpty)
    clock.advance(1)
    let next = try await claim(store)[0].delivery
    #expect(next.claim != lost.claim)
    #expect(try await !store.deliverySucceeded(lost, status: 200))
    #expect(try await store.deliveryFailed(lost, status: nil, error: "No.", retryAfter: 1) == nil)
    #expect(try await store.webhookGone(lost, status: 410) == 0)
    try await store.release(lost)
    #expect(try await store.deliveries(project: "p", limit: 1)[0].claim == next.claim)
    try await store.release(next)
    #expect(try await claim(store).count == 1)
  }

  @Test(arguments: DatabaseKind.available)
  func `a delivery is dead after 24 hours, and the next one follows at once and is tried at least once`(
    kind: DatabaseKind
  ) async throws {
    let store = try await open(kind)
    try await append(.jobStarted, in: store)
    clock.advance(60_000)
    try await append(.jobFinished, in: store)
    clock.advance(86_400_000 - 60_000 - 1_000)
    let first = try await claim(store)[0].delivery
    #expect(try await store.deliveryFailed(first, status: 503, error: "Later.", retryAfter: 1_001) == .dead)
    #expect(try await store.outbox() == OutboxFigures(pending: 1, age: 86_400_000 - 61_000, dead: 1))
    clock.advance(1_000_000)
    let second = try await claim(store)[0].delivery
    #expect(second.sequence == 2)
    #expect(try await store.deliveryFailed(second, status: 503, error: "Later.", retryAfter: 1_000) == .dead)
    let dead = try await store.deliveries(project: "p", DeliveryFilter(state: .dead), limit: 10)
    #expect(dead.map(\.sequence) == [2, 1])
    #expect(dead.allSatisfy { $0.error == "Later." && $0.status == 503 && $0.endedAt != nil && $0.tries == 1 })
    #expect(try await claim(store).isEmpty)
  }

  @Test(arguments: DatabaseKind.available)
  func `a dead delivery can be replayed, in order with other replays, and later events do not wait for it`(
    kind: DatabaseKind
  ) async throws {
    let store = try await open(kind)
    for _ in 1...3 { try await append(.participantJoined, in: store) }
    for _ in 1...2 {
      let delivery = try await claim(store)[0].delivery
      #expect(try await store.deliveryFailed(delivery, status: 500, error: "No.", retryAfter: 90_000_000) == .dead)
    }
    let pending = DeliveryID(event: 3, webhook: 0)
    guard case .notEnded? = try await store.replay(pending, project: "p") else {
      Issue.record("A pending delivery was replayed.")
      return
    }
    #expect(try await store.replay(DeliveryID(event: 1, webhook: 0), project: "other") == nil)
    #expect(try await store.replay(DeliveryID(event: 9, webhook: 0), project: "p") == nil)
    for event in [2, 1] as [Int64] {
      guard case .pending(let record)? = try await store.replay(DeliveryID(event: event, webhook: 0), project: "p")
      else {
        Issue.record("A dead delivery was not replayed.")
        return
      }
      #expect(record.state == .pending && record.tries == 0 && record.replays == 1)
      #expect(record.expiresAt == clock.now + 86_400_000)
    }
    let due = try await claim(store).map(\.delivery)
    // The second one waits for the first; the third, which was never given up, waits for neither.
    #expect(due.map(\.sequence).sorted() == [1, 3])
    for delivery in due { try await store.deliverySucceeded(delivery, status: 200) }
    #expect(try await claim(store).map(\.delivery.sequence) == [2])
  }

  @Test(arguments: DatabaseKind.available)
  func `a receiver that wants no more gets no more of that job, but of others`(kind: DatabaseKind) async throws {
    let store = try await open(kind, [Self.webhook("a"), Self.webhook("b")])
    let other = JobID.random()
    _ = try await store.submit(Self.new(other, [Self.webhook("a")]))
    try await append(.jobStarted, in: store)
    try await append(.participantJoined, in: store)
    let due = try await claim(store)
    #expect(try await store.webhookGone(due[0].delivery, status: 410) == 2)
    try await append(.jobFinished, in: store)
    try await append(.jobStarted, of: other, in: store)
    let unwanted = try await store.deliveries(project: "p", DeliveryFilter(state: .disabled), limit: 9)
    #expect(unwanted.map(\.id.description) == ["d2n0", "d1n0"])
    #expect(unwanted.last?.status == 410)
    #expect(try await store.disabledWebhooks(of: job) == [0])
    try await store.deliverySucceeded(due[1].delivery, status: 200)
    #expect(try await claim(store).map(\.delivery.id.description).sorted() == ["d2n1", "d4n0"])
    // Somebody may want one of them nevertheless.
    _ = try await store.replay(DeliveryID(event: 1, webhook: 0), project: "p")
    #expect(try await claim(store).map(\.delivery.id.description) == ["d1n0"])
  }

  @Test(arguments: DatabaseKind.available)
  func `a receiver that has enough to do is left out`(kind: DatabaseKind) async throws {
    let store = try await open(kind, [Self.webhook("a"), Self.webhook("b")])
    try await append(.jobStarted, in: store)
    let due = try await claim(store, notTo: ["https://a.example:443", "https://c.example:443"])
    #expect(due.map(\.origin) == ["https://b.example:443"])
    #expect(try await claim(store, limit: 1).map(\.origin) == ["https://a.example:443"])
  }

  @Test(arguments: DatabaseKind.available)
  func `lists have pages, and only what is of the project`(kind: DatabaseKind) async throws {
    let store = try await open(kind, [Self.webhook("a"), Self.webhook("b")])
    let other = JobID.random()
    _ = try await store.submit(Self.new(other, [Self.webhook("a")], project: "q"))
    for _ in 1...3 { try await append(.participantJoined, in: store) }
    try await append(.jobStarted, of: other, in: store)
    var seen: [String] = []
    var after: DeliveryID?
    while true {
      let page = try await store.deliveries(project: "p", after: after, limit: 2)
      if page.isEmpty { break }
      seen += page.map(\.id.description)
      after = page.last?.id
    }
    #expect(seen == ["d3n0", "d3n1", "d2n0", "d2n1", "d1n0", "d1n1"])
    #expect(try await store.deliveries(project: "q", limit: 9).map(\.job) == [other])
    #expect(try await store.deliveries(project: "p", DeliveryFilter(job: other), limit: 9).isEmpty)
    #expect(try await store.deliveries(project: "p", DeliveryFilter(job: job), limit: 9).count == 6)
  }

  @Test(arguments: DatabaseKind.available)
  func `deliveries go with their events`(kind: DatabaseKind) async throws {
    let store = try await open(kind)
    try await append(.jobStarted, in: store)
    try await store.connection.execute("DELETE FROM events WHERE job = $1", [job.value])
    #expect(try await store.outbox().pending == 0)
  }

  @Test(arguments: DatabaseKind.available)
  func `ten services that claim at once send each delivery once and in order`(kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let jobs = (0..<20).map { _ in JobID.random() }
    for job in jobs { _ = try await store.submit(Self.new(job, [Self.webhook("a")])) }
    for _ in 0..<5 { for job in jobs { try await append(.participantJoined, of: job, in: store) } }
    let sent = Sent()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 {
        group.addTask {
          while try await store.outbox().pending > 0 {
            for due in try await store.claimDeliveries(limit: 7, for: 30_000) {
              sent.append(due.delivery)
              try await store.deliverySucceeded(due.delivery, status: 200)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let all = sent.all
    #expect(all.count == 20)
    #expect(all.values.allSatisfy { $0 == [1, 2, 3, 4, 5] })
  }
}
