import JobProtocol
import SQLStore
import Testing

@Suite("Several nodes with one database")
struct JobStoreClusterTests {
  private let databases = TemporaryDatabases()
  private let clock = DatabaseClock()

  private func open(_ kind: DatabaseKind) async throws -> JobStore {
    let clock = clock
    let connection = ClockedConnection(try await databases.make(kind).connect(connections: 8)) { clock.now }
    try await SQLSchema.migrate(connection)
    return JobStore(connection)
  }

  private func node(_ name: String) -> JobStore.Claimant {
    JobStore.Claimant(node: name, version: "1", clockOffset: -3, clockError: 2)
  }

  @Test("The oldest queued jobs are claimed first, each once, with a new attempt", arguments: DatabaseKind.available)
  func claims(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    var jobs: [JobID] = []
    for _ in 0..<5 {
      let id = JobID.random()
      try await store.insert(id)
      jobs.append(id)
      clock.advance(1)
    }
    let first = try await store.claim(node("a"), limit: 2)
    let second = try await store.claim(node("b"), limit: 10)
    #expect(first.map(\.id) == Array(jobs[..<2]))
    #expect(second.map(\.id) == Array(jobs[2...]))
    #expect(first.allSatisfy { $0.attempt == 1 && $0.node == "a" && $0.state == .starting })
    #expect(Set((first + second).compactMap(\.attemptID)).count == 5)
    let attempt = try #require(try await store.attempts(of: jobs[0]).first)
    #expect(attempt.node == "a" && attempt.clockOffset == -3 && attempt.clockError == 2)
    #expect(attempt.folder == "jobs/\(jobs[0])/1-\(attempt.attemptID)")
    #expect(try await store.claim(node("c"), limit: 10).isEmpty)
  }

  @Test("Ten nodes at once claim 200 jobs, each once", arguments: DatabaseKind.available)
  func concurrentClaims(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    for _ in 0..<200 { try await store.insert(.random()) }
    let claimed = try await withThrowingTaskGroup(of: [JobID].self) { group in
      for number in 0..<10 {
        group.addTask {
          var own: [JobID] = []
          while true {
            let next = try await store.claim(.init(node: "n\(number)", version: "1"), limit: 1)
            if next.isEmpty { return own }
            own += next.map(\.id)
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(claimed.count == 200)
    #expect(Set(claimed).count == 200)
  }

  @Test(
    "Scheduled jobs are claimed when they are due, and jobs that were submitted to a node stay there",
    arguments: DatabaseKind.available)
  func due(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    func job(_ state: JobState, startAt: Int64? = nil, node: String? = nil) async throws -> JobID {
      let id = JobID.random()
      var job = NewJob(
        id: id, project: "p", kind: "record", state: state, paused: "{}", request: "{}", room: "1", server: "main",
        startAt: startAt)
      job.node = node
      _ = try await store.submit(job)
      return id
    }
    let later = try await job(.scheduled, startAt: clock.now + 5_000)
    let own = try await job(.starting, node: "a")
    #expect(try await store.claim(node("b"), limit: 10).isEmpty)
    clock.advance(5_000)
    #expect(try await store.claim(node("b"), limit: 10).map(\.id) == [later])
    // The node that took the job ended before it could begin.
    clock.advance(25_001)
    let taken = try await store.claim(node("b"), limit: 10)
    #expect(taken.map(\.id) == [own])
    #expect(taken.first?.attempt == 1)
  }

  @Test(
    "A job is taken over when its lease has ended; the former attempt is labelled and writes nothing more",
    arguments: DatabaseKind.available)
  func takeover(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    let former = try #require(try await store.claim(node("a"), limit: 1).first?.attemptID)
    #expect(
      try await store.append([JournalEntry(seq: 1, time: 1, event: .joined(user: "me"))], of: job, attempt: former))
    clock.advance(29_000)
    #expect(try await store.renewLeases(node: "a") == [job])
    clock.advance(29_000)
    #expect(try await store.claim(node("b"), limit: 1).isEmpty)
    clock.advance(1_001)
    #expect(try await !store.look(node: "b", takesOver: false).jobs)
    #expect(try await store.look(node: "b", takesOver: true).jobs)
    #expect(try await store.claim(node("b"), limit: 1, takesOver: false).isEmpty)
    let next = try #require(try await store.claim(node("b"), limit: 1).first)
    #expect(next.attempt == 2 && next.node == "b" && next.attemptID != former)
    #expect(try await store.renewLeases(node: "a").isEmpty)

    let taken = try await store.job(job)
    let late = [JournalEntry(seq: 2, time: 2, event: .participantJoined(.init(user: "anna", name: nil)))]
    #expect(try await !store.append(late, of: job, attempt: former))
    #expect(try await !store.markRunning(job, attempt: former))
    #expect(try await !store.endAttempt(former, of: job, how: "ended", failures: 0, nextAfter: nil))
    #expect(try await !store.setPause(PauseState(all: true), of: job, attempt: former))
    #expect(try await !store.beginStoring(job, .empty, sentence: "All left.", attempt: former))
    try await store.markStopping(job, .stopped, attempt: former)
    try await store.finish(job, .finished, .empty, sentence: "All left.", attempt: former)
    #expect(try await store.job(job) == taken)
    #expect(try await !store.beginAttempt(2, of: job, id: "x", version: "1", folder: "x", restartOf: nil))

    try await store.endSupersededAttempt(former, of: job)
    let attempts = try await store.attempts(of: job)
    #expect(attempts.map(\.how) == ["was lost with the node a", nil])
    #expect(attempts[0].endedAt == clock.now && attempts[0].isTakenOver && !attempts[1].isTakenOver)
    #expect(
      try await store.events(project: "p", job: job, limit: 10).map(\.type) == ["job.started", "job.restarted"])
    // Its files are stored by the node that has them.
    #expect(try await store.attemptsToStore(node: "a").map(\.attemptID) == [former])
    #expect(try await store.look(node: "a", takesOver: false).attempts)
    try await store.noteStored(attempts[0], description: "{}")
    #expect(try await store.attemptsToStore(node: "a").isEmpty)
    #expect(try await store.attempts(of: job).first?.description == "{}")
  }

  @Test("A job that stops or is stored when its node is lost gets no other attempt", arguments: DatabaseKind.available)
  func endings(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    for state in [JobState.stopping, .storing] {
      let job = JobID.random()
      try await store.insert(job)
      let attempt = try #require(try await store.claim(node("a"), limit: 1).first?.attemptID)
      if state == .stopping {
        try await store.markStopping(job, .stopped, attempt: attempt)
      } else {
        try await store.beginStoring(job, .empty, sentence: "All left.", attempt: attempt)
      }
      clock.advance(30_001)
      #expect(try await store.claim(node("b"), limit: 1).isEmpty)
      #expect(try await store.look(node: "b", takesOver: true).endings)
      let taken = try #require(try await store.claimEndings(node("b"), limit: 10).first)
      #expect(taken.id == job && taken.attempt == 1 && taken.node == "b" && taken.state == state)
      #expect(try await !store.beginStoring(job, .empty, sentence: "", attempt: attempt))
      try await store.finish(job, .finished, .empty, sentence: "", attempt: taken.attemptID)
      #expect(try await store.job(job)?.state == .finished)
    }
  }

  @Test(
    "A job that has waited too long for any node ends, after each node had time to look at it",
    arguments: DatabaseKind.available)
  func tired(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let id = JobID.random()
    _ = try await store.submit(
      NewJob(
        id: id, project: "p", kind: "record", state: .queued, paused: "{}", request: "{}", room: "1", server: "main",
        queueFor: 2_000))
    clock.advance(6_000)
    #expect(try await store.endTiredJobs(sentence: "No.") == 0)
    clock.advance(1_001)
    #expect(try await store.look(node: "a", takesOver: false).endings)
    #expect(try await store.endTiredJobs(sentence: "The memory is used.") == 1)
    let job = try #require(try await store.job(id))
    #expect(job.state == .failed && job.reason == "noCapacity" && job.sentence == "The memory is used.")
  }

  @Test(
    "A job that is handed over is claimed by another node while its lease lasts, unless the offer is withdrawn",
    arguments: DatabaseKind.available)
  func handover(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    let former = try #require(try await store.claim(node("a"), limit: 1).first?.attemptID)
    #expect(try await store.offer(job, attempt: former))
    #expect(try await store.claim(node("a"), limit: 1).isEmpty)
    #expect(try await store.withdraw(job, attempt: former))
    #expect(try await store.claim(node("b"), limit: 1).isEmpty)
    #expect(try await store.offer(job, attempt: former))
    let next = try #require(try await store.claim(node("b"), limit: 1).first?.attemptID)
    #expect(try await !store.withdraw(job, attempt: former))
    #expect(try await store.attempts(of: job).first?.how == "is handed over by the node a")
    #expect(try await store.attempts(of: job).first?.isTakenOver == false)

    var successor = try #require(try await store.successor(of: job))
    #expect(successor.node == "b" && successor.attemptID == next && !successor.hasJoined && !successor.isOver)
    _ = try await store.append([JournalEntry(seq: 1, time: 1, event: .joined(user: "me"))], of: job, attempt: next)
    #expect(try await store.noteKeyframes(["anna", "bert"], of: job, attempt: next))
    #expect(try await !store.noteKeyframes(["anna"], of: job, attempt: former))
    successor = try #require(try await store.successor(of: job))
    #expect(successor.hasJoined && successor.keyframes == ["anna", "bert"])
  }

  @Test(
    "Commands are carried out by the node that has the job; those of a job that no node has, by any of them",
    arguments: DatabaseKind.available)
  func commands(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let (idle, claimed) = (JobID.random(), JobID.random())
    try await store.insert(claimed)
    _ = try await store.claim(node("a"), limit: 1)
    try await store.insert(idle)
    for job in [idle, claimed] {
      for kind in CommandRecord.Kind.allCases.reversed() { _ = try await store.request(kind, of: job, project: "p") }
    }
    #expect(try await store.waitingCommands(node: "a").count == 6)
    let commands = try await store.waitingCommands(node: "b")
    #expect(commands.map(\.job) == [idle, idle, idle])
    let changes: [CommandRecord.Kind: JobStore.IdleChange] = [
      .pause: .pause(["anna"]), .resume: .resume(["anna"]), .stop: .stop,
    ]
    var paused: [Bool] = []
    for command in commands {
      let change = try #require(changes[command.kind])
      let isDone = try await store.carryOut(
        change, command: command.id, of: idle, result: { #"{"effectiveAt":\#($0)}"# }, failure: "")
      #expect(isDone)
      paused.append(try await store.job(idle)?.paused.contains("anna") == true)
      #expect(try await store.command(command.id)?.result == #"{"effectiveAt":\#(clock.now)}"#)
    }
    #expect(commands.map(\.kind) == [.resume, .pause, .stop])
    #expect(paused == [false, true, true])
    #expect(try await store.job(idle)?.state == .cancelled)
    let own = try #require(try await store.waitingCommands(node: "a").first)
    #expect(try await !store.carryOut(.stop, command: own.id, of: claimed, result: { _ in "{}" }, failure: ""))
  }

  @Test(
    "What a node did without the database is noted in order, and waits for the successor if there is one",
    arguments: DatabaseKind.available)
  func local(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    let former = try #require(try await store.claim(node("a"), limit: 1).first?.attemptID)
    let paused = PauseState(all: true)
    #expect(
      try await store.noteLocal(.pause, of: job, attempt: former, argument: "{}", paused: paused, result: "{}"))
    #expect(try await store.job(job)?.paused.contains(#""all":true"#) == true)
    #expect(try await store.waitingCommands(node: "a").isEmpty)
    clock.advance(30_001)
    _ = try await store.claim(node("b"), limit: 1)
    #expect(
      try await !store.noteLocal(
        .resume, of: job, attempt: former, argument: "{}", paused: PauseState.none, result: "{}"))
    #expect(try await store.job(job)?.paused.contains(#""all":true"#) == true)
    #expect(try await store.waitingCommands(node: "b").map(\.kind) == [.resume])
  }

  @Test(
    "A node joins, is seen, drains, and keeps its name from another service while it lives",
    arguments: DatabaseKind.available)
  func nodes(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let first = NewNode(name: "a", identity: "1", advertise: "http://a:1", version: "1.0")
    var second = first
    second.identity = "2"
    #expect(try await store.join(first))
    #expect(try await !store.join(second))
    #expect(try await store.heartbeat(of: "a", identity: "2", capacity: "{}", isStopping: false) == nil)
    clock.advance(10_000)
    let beat = try await store.heartbeat(of: "a", identity: "1", capacity: #"{"x":1}"#, isStopping: false)
    #expect(beat?.now == clock.now && beat?.isDraining == false)
    #expect(try await store.setDraining("a", true))
    #expect(try await !store.setDraining("b", true))
    clock.advance(1_000)
    #expect(
      try await store.heartbeat(of: "a", identity: "1", capacity: "{}", isStopping: true)?.isDraining == true)
    let node = try #require(try await store.nodes().first)
    #expect(node.isStopping && node.isDraining && node.isAlive && node.advertise == "http://a:1")
    clock.advance(30_001)
    #expect(try await store.nodeAges() == ["a": 30_001])
    #expect(try await store.nodes().first?.isAlive == false)
    #expect(try await store.join(second))
    #expect(try await store.nodes().first?.isStopping == false)
    clock.advance(30_001)
    // An operator has drained it: nobody waits for it.
    #expect(try await store.clusterFigures().gone == 0)
    #expect(try await store.setDraining("a", false))
    #expect(try await store.clusterFigures().gone == 1)
    // It was taken away for good: nobody needs to hear of it for ever.
    clock.advance(86_400_000)
    #expect(try await store.clusterFigures().gone == 0)
  }

  @Test(
    "Amendments are numbered from 2 and noted once, and participants are those of one attempt",
    arguments: DatabaseKind.available)
  func amendments(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    let attempt = try #require(try await store.claim(node("a"), limit: 1).first?.attemptID)
    let entries: [JournalEvent] = [
      .participantJoined(.init(user: "anna", name: "Anna")), .participantJoined(.init(user: "bert", name: nil)),
      .participantLeft(.init(user: "anna", name: "Anna")),
    ]
    for (index, event) in entries.enumerated() {
      _ = try await store.append(
        [JournalEntry(seq: Int64(index + 1), time: 1, event: event)], of: job, attempt: attempt)
      clock.advance(10)
    }
    let users = try await store.participants(of: job, attempt: 1)
    #expect(users.map(\.user) == ["anna", "bert"])
    #expect(users[0].left == users[0].joined + 20 && users[1].left == nil && users[0].name == "Anna")
    #expect(try await store.participants(of: job, attempt: 2).isEmpty)
    #expect(try await store.noteAmendment(of: job, number: 2, event: "{}"))
    #expect(try await !store.noteAmendment(of: job, number: 2, event: "{}"))
    #expect(try await store.noteAmendment(of: job, number: 3, event: "{}"))
    #expect(try await store.job(job)?.amendments == 2)
    let events = try await store.events(project: "p", job: job, limit: 10)
    #expect(events.suffix(2).map(\.type) == ["recording.amended", "recording.amended"])
  }

  @Test(
    "An attempt that begins twice, because the answer was lost, has begun; one of a former node has not",
    arguments: DatabaseKind.available)
  func attemptBeginsAgain(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    func begin(_ id: String) async throws -> Bool {
      try await store.beginAttempt(1, of: job, id: id, version: "1", folder: "f", restartOf: nil, claimant: node("a"))
    }
    #expect(try await begin("x"))
    #expect(try await begin("x"))
    #expect(try await !begin("y"))
    clock.advance(30_001)
    _ = try await store.claim(node("b"), limit: 1)
    #expect(try await !begin("x"))
    #expect(try await store.attempts(of: job).count == 2)
  }

  @Test(
    "A node completes no command of a job that another node has, and that one carries it out",
    arguments: DatabaseKind.available)
  func commandsOfFormer(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    let former = try #require(try await store.claim(node("a"), limit: 1).first?.attemptID)
    _ = try await store.request(.stop, of: job, project: "p")
    let command = try #require(try await store.waitingCommands(node: "a").first)
    clock.advance(30_001)
    let next = try #require(try await store.claim(node("b"), limit: 1).first?.attemptID)
    #expect(try await !store.complete(command.id, result: "{}", attempt: former))
    #expect(try await store.waitingCommands(node: "b").map(\.id) == [command.id])
    #expect(try await store.complete(command.id, result: "{}", attempt: next))
    #expect(try await !store.complete(command.id, result: "{}", attempt: next))
    // What was kept, and may not have been carried out, waits.
    #expect(
      try await store.noteLocal(.stop, of: job, attempt: next, argument: "{}", paused: nil, result: nil))
    #expect(try await store.waitingCommands(node: "b").map(\.kind) == [.stop])
  }

  @Test(
    "Jobs that wait for a node are not without a lease, and takeovers are counted after their jobs are forgotten",
    arguments: DatabaseKind.available)
  func figures(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    let job = JobID.random()
    try await store.insert(job)
    clock.advance(60_000)
    #expect(try await store.clusterFigures().jobsWithoutLease == 0)
    _ = try await store.claim(node("a"), limit: 1)
    #expect(try await store.clusterFigures().jobsWithoutLease == 0)
    clock.advance(30_001)
    #expect(try await store.clusterFigures().jobsWithoutLease == 1)
    _ = try await store.claim(node("b"), limit: 1)
    #expect(try await store.clusterFigures().takeovers == 1)
    try await store.finish(job, .finished, .empty, sentence: "All left.")
    clock.advance(1_000)
    #expect(try await store.pruneJobs(age: 1_000).count == 1)
    #expect(try await store.clusterFigures().takeovers == 1)
  }

  @Test("A node that was not heard of for long is forgotten, unless it is drained", arguments: DatabaseKind.available)
  func forgottenNodes(_ kind: DatabaseKind) async throws {
    let store = try await open(kind)
    for name in ["a", "b"] {
      _ = try await store.join(NewNode(name: name, identity: name, advertise: nil, version: "1"))
    }
    _ = try await store.setDraining("b", true)
    clock.advance(1_000)
    _ = try await store.join(NewNode(name: "c", identity: "c", advertise: nil, version: "1"))
    try await store.pruneNodes(age: 1_000)
    #expect(try await store.nodes().map(\.name) == ["b", "c"])
    clock.advance(30_001)
    #expect(try await store.clusterFigures().gone == 1)
  }
}
