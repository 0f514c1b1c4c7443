import JobProtocol
import SQLStore
import TestSupport

/// Random calls of a store, the same for the same seed, and what each of them returned. A database decides nothing of what is called but
/// by what it returns.
struct RandomCalls {
  private struct Attempt {
    var job: JobID
    var id: String
    var number: Int64
    var lastEntry: Int64 = 0
  }

  private let store: JobStore
  private let clock: DatabaseClock
  private let project: String
  private var random: SeededGenerator
  private var jobs: [JobID] = []
  private var attempts: [Attempt] = []
  /// Texts that are random in the database.
  private var ids: [String] = []
  private var commands: [Int64] = []
  private var due: [DueDelivery] = []
  private(set) var lines: [String] = []

  private static let nodes = ["a", "b", "c"]
  /// Texts that SQL, JSON or a locale could take for something else.
  private static let texts = ["100", "Zoë", "", "it's", "a\\b", "%_", "\"x\"", "ß", "Z", "a", "😀", "$1", "now", "--"]

  init(_ store: JobStore, clock: DatabaseClock, seed: UInt64) {
    self.store = store
    self.clock = clock
    project = "p\(seed)"
    random = SeededGenerator(seed: seed)
  }

  // MARK: Choices

  private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func isChosen() -> Bool { Bool.random(using: &random) }
  private mutating func text() -> String { Self.texts[number(0...(Self.texts.count - 1))] }
  private mutating func node() -> JobStore.Claimant {
    JobStore.Claimant(node: Self.nodes[number(0...2)], version: "1", clockOffset: -3, clockError: 2)
  }

  private mutating func job() -> JobID {
    // Sometimes one that is not there.
    if jobs.isEmpty || number(0...19) == 0 { return id() }
    return jobs[number(0...(jobs.count - 1))]
  }

  private mutating func id() -> JobID {
    JobID(String(UInt64.random(in: 0...UInt64.max, using: &random), radix: 36)) ?? .random()
  }

  private mutating func users() -> [String]? {
    number(0...2) == 0 ? nil : (0..<number(1...3)).map { _ in text() }
  }

  // MARK: Lines

  private mutating func note(_ call: String, _ result: Any) {
    // What is random in the database has a number, and claims of deliveries are left out.
    var line = "\(call): \(result)"
    for (index, id) in ids.enumerated() where line.contains(id) { line = line.replacing(id, with: "<\(index)>") }
    lines.append(line)
  }

  private mutating func learn(_ records: [JobRecord]) {
    for record in records {
      guard let id = record.attemptID, !ids.contains(id) else { continue }
      ids.append(id)
      // A job that only ends has an id, and no attempt.
      if record.state == .starting { attempts.append(Attempt(job: record.id, id: id, number: record.attempt)) }
    }
  }

  private static func withoutClaim(_ delivery: DeliveryRecord) -> DeliveryRecord {
    var delivery = delivery
    delivery.claim = delivery.claim.map { _ in "claimed" }
    return delivery
  }

  // MARK: Calls

  /// Makes some calls, then ends all jobs and looks at the tables.
  mutating func run(steps: Int) async throws {
    try await submit()
    for _ in 0..<steps { try await call() }
    for job in jobs { try await store.finish(job, .finished, .stopped, sentence: text()) }
    try await look()
    clock.advance(100_000)
  }

  private mutating func call() async throws {
    switch number(0...15) {
    case 0, 1: try await submit()
    case 2, 3: try await claim()
    case 4: clock.advance([1, 999, 10_000, 31_000, 700_000, 86_400_000][number(0...5)])
    case 5: try await journal()
    case 6: try await change()
    case 7: try await endAttempt()
    case 8: try await command()
    case 9, 10: try await storeFile()
    case 11: try await handOver()
    case 12, 13: try await deliver()
    case 14: try await end()
    default: try await joinNodes()
    }
  }

  private mutating func submit() async throws {
    let isBegun = number(0...3) == 0
    var new = NewJob(
      id: id(), project: project, kind: isChosen() ? "record" : "play",
      state: isBegun ? .starting : isChosen() ? .queued : .scheduled, paused: "{}", request: "{}", room: text(),
      server: "main", uniqueKey: number(0...3) == 0 ? "key \(text())" : nil)
    if new.state == .scheduled { new.startAt = clock.now + Int64(number(-5...50_000)) }
    if isBegun { new.node = Self.nodes[number(0...2)] }
    new.queueFor = Int64(number(0...1)) * 20_000
    for _ in 0..<number(0...2) { new.labels[text()] = text() }
    if isChosen() { new.secrets = (0..<number(0...40)).map { _ in UInt8.random(in: 0...255, using: &random) } }
    if number(0...3) == 0 { new.idempotency = .init(key: text(), bodySHA256: isChosen() ? "a" : "b") }
    for _ in 0..<number(0...2) {
      let origin = "https://\(number(0...1)).example"
      let events = [["*"], ["job.*", "recording.finished"], ["participant.joined"]][number(0...2)]
      new.webhooks.append(
        NewWebhook(url: "\(origin)/", origin: origin, events: events.compactMap { EventPattern($0) }, secret: text()))
    }
    let result = try await store.submit(new)
    if case .created(let record) = result { jobs.append(record.id) }
    note("submit", result)
  }

  private mutating func claim() async throws {
    let node = node()
    let takesOver = isChosen()
    note("look", try await store.look(node: node.node, takesOver: takesOver))
    switch number(0...4) {
    case 0: note("renew", try await store.renewLeases(node: node.node).map(\.text).sorted())
    case 1:
      let records = try await store.claimEndings(node, limit: number(1...3))
      learn(records)
      note("endings", records)
    case 2: note("tired", try await store.endTiredJobs(sentence: text()))
    default:
      let records = try await store.claim(node, limit: number(1...4), takesOver: takesOver)
      learn(records)
      note("claim", records)
    }
  }

  private mutating func attempt() -> Int? { attempts.isEmpty ? nil : number(0...(attempts.count - 1)) }

  private mutating func journal() async throws {
    guard let index = attempt() else { return }
    var entries: [JournalEntry] = []
    for _ in 0..<number(1...4) {
      attempts[index].lastEntry += Int64(number(0...1))
      let event: JournalEvent =
        switch number(0...5) {
        case 0: .joined(user: text())
        case 1: .participantLeft(.init(user: text()))
        case 2: .stalled(user: text(), since: isChosen() ? 5 : nil)
        case 3: .paused(.init(users: users(), effectiveAt: 7, state: .none))
        default: .participantJoined(.init(user: text(), name: isChosen() ? text() : nil))
        }
      entries.append(JournalEntry(seq: attempts[index].lastEntry, time: 1, event: event))
    }
    let (job, id) = (attempts[index].job, attempts[index].id)
    note("journal", try await store.append(entries, of: job, attempt: id))
    note("joined", try await store.joinedParticipants(of: job))
    let participants = try await store.participants(of: job, attempt: attempts[index].number)
    note("participants", participants)
  }

  private mutating func change() async throws {
    guard let index = attempt() else { return }
    let (job, id) = (attempts[index].job, isChosen() ? attempts[index].id : "another")
    switch number(0...3) {
    case 0: note("running", try await store.markRunning(job, attempt: id))
    case 1: note("stalled", try await store.markStalled(job, attempt: id, isChosen()))
    case 2:
      try await store.markStopping(job, isChosen() ? .stopped : .drained, attempt: isChosen() ? id : nil)
    default:
      let state = PauseState(all: isChosen(), users: users() ?? [])
      note("pause", try await store.setPause(state, of: job, attempt: isChosen() ? id : nil))
    }
    note("job", try await store.job(job) as Any)
  }

  private mutating func endAttempt() async throws {
    guard let index = attempt() else { return }
    let (job, id) = (attempts[index].job, attempts[index].id)
    let ended = try await store.endAttempt(
      id, of: job, how: text(), failures: number(0...4), nextAfter: isChosen() ? 1_000 : nil)
    note("end attempt", ended)
    let next = Attempt(job: job, id: "next\(attempts.count)\(project)", number: attempts[index].number + 1)
    let isBegun = try await store.beginAttempt(
      Int(next.number), of: job, id: next.id, version: "2", folder: "f", restartOf: isChosen() ? text() : nil,
      claimant: isChosen() ? node() : nil)
    note("begin attempt", isBegun)
    if isBegun { attempts.append(next) }
  }

  private mutating func command() async throws {
    let job = job()
    let kind = CommandRecord.Kind.allCases[number(0...2)]
    let found = try await store.request(kind, of: job, project: isChosen() ? project : "other")
    if let command = found?.command { commands.append(command.id) }
    note("request", found as Any)
    note("waiting", try await store.waitingCommands(node: Self.nodes[number(0...2)]))
    guard let command = commands.last else { return }
    switch number(0...2) {
    case 0: note("complete", try await store.complete(command, result: "{}", attempt: isChosen() ? "" : nil))
    case 1:
      let change: JobStore.IdleChange = [.stop, .pause(users()), .resume(users())][number(0...2)]
      let done = try await store.carryOut(
        change, command: command, of: job, result: { "{\"at\":\($0)}" }, failure: "{}")
      note("carry out", done)
    default:
      let isOwn = try await store.noteLocal(
        kind, of: job, attempt: "", argument: "{}", paused: isChosen() ? PauseState(all: true) : nil,
        result: isChosen() ? "{}" : nil)
      note("local", isOwn)
    }
    note("command", try await store.command(command) as Any)
  }

  private mutating func storeFile() async throws {
    guard let index = attempt() else { return }
    let attempt = attempts[index]
    note("path", try await store.fixObjectPath("path \(text())", of: attempt.job) as Any)
    let file = FileRecord(
      job: attempt.job, attempt: attempt.number, name: "\(text()).webm", object: text(),
      kind: isChosen() ? "webm" : "log", user: isChosen() ? text() : nil, stream: 1, segment: isChosen() ? 2 : nil,
      start: clock.now, duration: 1_000, bytes: 1 << 40, sha256: text())
    let isNoted = try await store.note(
      file, ofAttempt: isChosen() ? attempt.id : "another", event: isChosen() ? "{}" : nil,
      conflicts: isChosen() ? ["{\"taken\":1}"] : [])
    note("file", isNoted)
    note("files", try await store.files(of: attempt.job, after: FilePosition(attempt: 0, name: text()), limit: 3))
    guard number(0...2) == 0,
      let record = try await store.attempts(of: attempt.job).first(where: { $0.attemptID == attempt.id })
    else { return }
    try await store.noteStored(record, description: "{\"text\":\"\(number(0...9))\"}")
    note("manifest", try await store.noteManifest(of: attempt.job, event: "{}"))
    note("amendment", try await store.noteAmendment(of: attempt.job, number: Int64(number(2...3)), event: "{}"))
    try await store.noteUpload("u\(number(0...9))", of: "p_\(number(0...3))/\(text())")
    note(
      "uploads",
      try await store.uploads(below: "p_\(number(0...3))").sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  private mutating func handOver() async throws {
    guard let index = attempt() else { return }
    let (job, id) = (attempts[index].job, attempts[index].id)
    switch number(0...2) {
    case 0: note("offer", try await store.offer(job, attempt: id))
    case 1: note("withdraw", try await store.withdraw(job, attempt: id))
    default: note("keyframes", try await store.noteKeyframes(users() ?? [], of: job, attempt: id))
    }
    let successor = try await store.successor(of: job)
    note(
      "successor", [successor?.node ?? "", "\(successor?.keyframes.sorted() ?? [])", "\(successor?.isOver ?? false)"])
    let left = try await store.attemptsToStore(node: Self.nodes[number(0...2)])
    note("to store", left.map { "\($0.job) \($0.number)" }.sorted())
    if isChosen() { try await store.endSupersededAttempt(id, of: job) }
  }

  private mutating func deliver() async throws {
    // All that are due: the order of those of one event is that of no index.
    due += try await store.claimDeliveries(
      limit: 10_000, for: 30_000, notTo: isChosen() ? [] : ["https://0.example"])
    due.sort { ($0.delivery.id.event, $0.delivery.id.webhook) < ($1.delivery.id.event, $1.delivery.id.webhook) }
    note(
      "due",
      due.map {
        ["\(Self.withoutClaim($0.delivery))", $0.origin, $0.data, $0.room, "\($0.labels.sorted { $0.key < $1.key })"]
      })
    for _ in 0..<number(1...4) where !due.isEmpty {
      let delivery = due.remove(at: number(0...(due.count - 1))).delivery
      switch number(0...4) {
      case 0, 1: note("delivered", try await store.deliverySucceeded(delivery, status: 200))
      case 2:
        let delay: Int64 = isChosen() ? 1_000 : 90_000_000
        note("failed", try await store.deliveryFailed(delivery, status: 500, error: text(), retryAfter: delay) as Any)
      case 3: note("gone", try await store.webhookGone(delivery, status: 410))
      default: try await store.release(delivery)
      }
      guard isChosen(), let replay = try await store.replay(delivery.id, project: project) else { continue }
      switch replay {
      case .pending(let record): note("replayed", Self.withoutClaim(record))
      case .notEnded(let record): note("not ended", Self.withoutClaim(record))
      }
    }
    note("outbox", try await store.outbox())
  }

  private mutating func end() async throws {
    let job = job()
    switch number(0...4) {
    case 0: note("storing", try await store.beginStoring(job, .empty, sentence: text()))
    case 1: try await store.finish(job, [.finished, .failed, .cancelled][number(0...2)], .duration, sentence: text())
    case 2:
      try await store.requestDeletion(of: job)
      note("deletions", try await store.deletionsToDo(limit: 100).map(\.id))
      if isChosen() { try await store.noteDeletion(of: job) }
    case 3: note("expired", try await store.expireRecordings(age: Int64(number(0...1)) * 86_400_000))
    default:
      let pruned = try await store.pruneJobs(age: 86_400_000)
      note("pruned", [pruned.count, pruned.hasMore ? 1 : 0])
    }
    note("ended", try await store.job(job, project: project) as Any)
  }

  private mutating func joinNodes() async throws {
    let name = Self.nodes[number(0...2)]
    let identity = isChosen() ? "1" : "2"
    switch number(0...3) {
    case 0:
      let new = NewNode(name: name, identity: identity, advertise: isChosen() ? text() : nil, version: "1")
      note("join", try await store.join(new))
    case 1:
      let isStopping = isChosen()
      let beat = try await store.heartbeat(of: name, identity: identity, capacity: text(), isStopping: isStopping)
      note("heartbeat", beat as Any)
    case 2: note("drain", try await store.setDraining(name, isChosen()))
    default: try await store.pruneNodes(age: 86_400_000)
    }
    note("nodes", try await store.nodes())
    note("figures", try await store.clusterFigures())
  }

  /// What is in the tables at the end of a case.
  private mutating func look() async throws {
    var filter = JobFilter()
    note("jobs", try await store.jobs(project: project, filter, limit: 100))
    filter.states = [.finished, .failed]
    filter.kinds = ["record"]
    filter.room = text()
    filter.labels = [text(): text()]
    filter.createdAfter = clock.now - 1_000_000
    note("filtered", try await store.jobs(project: project, filter, limit: 2).map(\.id))
    note("events", try await store.events(project: project, limit: 1_000))
    note("deliveries", try await store.deliveries(project: project, limit: 1_000).map { Self.withoutClaim($0) })
    for job in jobs {
      note("attempts", try await store.attempts(of: job))
      note("all files", try await store.files(of: job))
      note(
        "labels", (try await store.labels(of: [job])[job] ?? [:]).sorted { $0.key < $1.key }.map { [$0.key, $0.value] })
    }
    note("local", try await store.localJobs(jobs).jobs)
    note("states", try await store.countsByState().map { "\($0.key) \($0.value)" }.sorted())
    note("reasons", try await store.countsByReason().map { "\($0.key) \($0.value)" }.sorted())
    note("count", [try await store.attemptCount(), try await store.newestEvent()])
  }
}
