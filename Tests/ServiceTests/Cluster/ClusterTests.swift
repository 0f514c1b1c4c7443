import Foundation
import JobProtocol
import OptionValues
import SQLStore
import Service
import Testing

@Suite("Several nodes with one database, with real processes", .serialized)
struct ClusterTests {
  @Test(
    "Jobs of one queue run once each, and each node takes those that it has room for", arguments: TestDatabase.available
  )
  func queue(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b", "c"], database, processors: 300)
    var jobs: [JobID] = []
    for _ in 0..<9 { jobs.append(try await cluster.submit()) }
    var seen: Set<String> = []
    let ended = try await cluster.eventually(within: .seconds(60)) {
      for id in jobs {
        let job = try await cluster.job(id)
        if job.state == .running {
          seen.insert(job.node ?? "")
          _ = try await cluster.store.request(.stop, of: id, project: "p")
        }
        if !job.state.isEnded { return false }
      }
      return true
    }
    #expect(ended)
    #expect(seen.count > 1)
    for id in jobs {
      #expect(try await cluster.job(id).reason == "stopped")
      #expect(try await cluster.attempts(id).count == 1)
      #expect(try await cluster.events(id).filter { $0 == "job.finished" }.count == 1)
    }
    try await cluster.end()
  }

  @Test("A node at rest needs less than two statements a second")
  func rest() async throws {
    // With the intervals of the tests, which are ten to twenty times shorter.
    let cluster = try await TestCluster(["a"])
    let node = cluster.nodes[0]
    try await Task.sleep(for: .seconds(1))
    let before = node.connection.statements
    try await Task.sleep(for: .seconds(4))
    let (renewals, looks) = (4.0 / 0.5, 4.0 / 0.2)
    #expect(Double(node.connection.statements - before) <= 2 * renewals + looks + 4)
    try await cluster.end()
  }

  @Test(
    "A job of a node that is cut off is taken over with its pause; the former ends when it hears of it",
    arguments: TestDatabase.available)
  func takeover(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b"], database)
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    #expect(try await cluster.command(.pause, job, by: b)?.effectiveAt != nil)
    // B may take over only what was left for the time of a lease.
    try await Task.sleep(for: .milliseconds(TestCluster.lease))
    a.connection.isCut = true
    let cut = ContinuousClock.now
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: b, attempt: 2) })
    #expect(ContinuousClock.now - cut > .milliseconds(TestCluster.lease - 600))
    #expect(await b.supervisor.live(job)?.paused == PauseState(all: true))
    let attempts = try await cluster.attempts(job)
    #expect(attempts[0].how == "was lost with the node a" && attempts[0].isTakenOver)
    // The former goes on, since it cannot know; it says that it takes no jobs.
    #expect(cluster.isAlive(attempts[0]) && cluster.isAlive(attempts[1]))
    #expect(await a.supervisor.missing == ["The database does not answer."])
    a.connection.isCut = false
    let back = ContinuousClock.now
    #expect(try await cluster.eventually { !cluster.isAlive(attempts[0]) })
    #expect(ContinuousClock.now - back < .seconds(5))
    #expect(try await cluster.eventually { a.storedAttempts == [attempts[0].attemptID] })
    #expect(await a.supervisor.missing.isEmpty)
    #expect(try await cluster.isRunning(job, on: b, attempt: 2))
    #expect(try await cluster.command(.stop, job, by: a) == CommandResult())
    #expect(try await cluster.eventually { try await cluster.job(job).state == .finished })
    #expect(try await cluster.attempts(job).allSatisfy { $0.endedAt != nil && $0.storedAt != nil })
    #expect(
      try await cluster.events(job) == [
        "job.started", "participant.joined", "recording.paused", "job.restarted", "participant.joined",
        "job.finished",
      ])
    try await cluster.end()
  }

  @Test(
    "A node that was gone finds the process of a job that another node has, ends it and stores its files",
    arguments: TestDatabase.available)
  func lateReturn(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b"], database)
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let jobs = [try await cluster.submit(to: a), try await cluster.submit(to: a)]
    for job in jobs {
      #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    }
    try await Task.sleep(for: .milliseconds(TestCluster.lease))
    await a.supervisor.detach()
    for job in jobs {
      #expect(try await cluster.eventually { try await cluster.isRunning(job, on: b, attempt: 2) })
    }
    let former = [try await cluster.attempts(jobs[0])[0], try await cluster.attempts(jobs[1])[0]]
    #expect(cluster.isAlive(former[0]) && cluster.isAlive(former[1]))
    // One process dies, as if the machine had started again; one job ends before the node returns.
    kill(try cluster.process(former[1]), SIGKILL)
    _ = try await cluster.command(.stop, jobs[1], by: b)
    try await Task.sleep(for: .milliseconds(500))
    // Its files are waited for.
    #expect(try await cluster.job(jobs[1]).state == .storing)
    try await cluster.start(a)
    #expect(try await cluster.eventually { a.storedAttempts.count == 2 })
    #expect(!cluster.isAlive(former[0]))
    #expect(try await cluster.eventually { try await cluster.job(jobs[1]).state == .finished })
    #expect(try await cluster.isRunning(jobs[0], on: b, attempt: 2))
    try await cluster.end()
  }

  @Test(
    "While the database is away, jobs run on, commands work and are noted in order, and nothing is taken over",
    arguments: TestDatabase.available)
  func outage(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b"], database)
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let jobs = [try await cluster.submit(to: a), try await cluster.submit(to: a)]
    for job in jobs {
      #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    }
    try await Task.sleep(for: .milliseconds(TestCluster.lease))
    for node in cluster.nodes { node.connection.isCut = true }
    #expect(try await cluster.eventually { await !a.supervisor.missing.isEmpty })
    let shortage = await #expect(throws: CapacityShortage.self) { try await a.supervisor.reserve(.record) }
    #expect(shortage?.cause == .notAccepting)
    func command(_ kind: CommandRecord.Kind, _ job: JobID, _ users: [String]? = nil) async -> LocalOutcome? {
      await a.supervisor.commandWithoutDatabase(kind, of: job, project: "p", users: users)
    }
    #expect(await b.supervisor.commandWithoutDatabase(.pause, of: jobs[0], project: "p", users: nil) == nil)
    #expect(await a.supervisor.commandWithoutDatabase(.pause, of: jobs[0], project: "q", users: nil) == nil)
    #expect(await command(.pause, jobs[0])?.result.effectiveAt != nil)
    #expect(await command(.resume, jobs[0])?.result.effectiveAt != nil)
    #expect(await command(.pause, jobs[0], ["anna"])?.isDone == true)
    #expect(try await cluster.eventually { await a.supervisor.live(jobs[0])?.paused.users == ["anna"] })
    let stopped = await command(.stop, jobs[1])
    #expect(stopped?.isDone == true && stopped?.job.state == .stopping)
    let process = try await cluster.attempts(jobs[1])[0]
    #expect(try await cluster.eventually { !cluster.isAlive(process) })
    // Longer than a lease.
    try await Task.sleep(for: .milliseconds(TestCluster.lease + 500))
    #expect(try await cluster.job(jobs[0]).paused.contains("anna") == false)
    for node in cluster.nodes { node.connection.isCut = false }
    #expect(try await cluster.eventually { try await cluster.job(jobs[1]).state == .finished })
    #expect(try await cluster.job(jobs[1]).reason == "stopped")
    #expect(try await cluster.eventually { try await cluster.job(jobs[0]).paused.contains("anna") })
    try await Task.sleep(for: .milliseconds(TestCluster.lease + 500))
    #expect(try await cluster.isRunning(jobs[0], on: a, attempt: 1))
    let noted = try await cluster.store.connection.execute("SELECT * FROM commands ORDER BY id")
      .map { try CommandRecord($0) }
    #expect(noted.filter { $0.job == jobs[0] }.map(\.kind) == [.pause, .resume, .pause])
    #expect(noted.filter { $0.job == jobs[1] }.map(\.kind) == [.stop])
    #expect(noted.allSatisfy { $0.doneAt != nil })
    #expect(
      try await cluster.events(jobs[0]) == [
        "job.started", "participant.joined", "recording.paused", "recording.resumed", "recording.paused",
      ])
    #expect(!FileManager.default.fileExists(atPath: "\(a.folder)/local-commands.ndjson"))
    try await cluster.end()
  }

  @Test("A pause without the database outlives the end of the service and of the process")
  func outageAndCrash() async throws {
    let cluster = try await TestCluster(["a"])
    let a = cluster.nodes[0]
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    a.connection.isCut = true
    #expect(try await cluster.eventually { await !a.supervisor.missing.isEmpty })
    let outcome = await a.supervisor.commandWithoutDatabase(.pause, of: job, project: "p", users: nil)
    #expect(outcome?.isDone == true)
    let attempt = try await cluster.attempts(job)[0]
    await a.supervisor.detach()
    kill(try cluster.process(attempt), SIGKILL)
    #expect(try await cluster.job(job).paused.contains(#""all":false"#))
    a.connection.isCut = false
    try await cluster.start(a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 2) })
    #expect(await a.supervisor.live(job)?.paused == PauseState(all: true))
    #expect(try await cluster.job(job).paused.contains(#""all":true"#))
    try await cluster.end()
  }

  @Test("A stop without the database outlives the end of the service before the process has stopped")
  func stopAndCrash() async throws {
    let cluster = try await TestCluster(["a"])
    let a = cluster.nodes[0]
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    let process = try cluster.process(try await cluster.attempts(job)[0])
    a.connection.isCut = true
    #expect(try await cluster.eventually { await !a.supervisor.missing.isEmpty })
    kill(process, SIGSTOP)
    #expect(await a.supervisor.commandWithoutDatabase(.stop, of: job, project: "p", users: nil)?.isDone == true)
    await a.supervisor.detach()
    kill(process, SIGKILL)
    a.connection.isCut = false
    try await cluster.start(a)
    #expect(try await cluster.eventually { try await cluster.job(job).reason == "stopped" })
    try await cluster.end()
  }

  @Test("The process of a job ends that a failover has lost, and the node can end afterwards")
  func lostJob() async throws {
    let cluster = try await TestCluster(["a"]) { $0.drainTimeout = TimeSpan(milliseconds: 500) }
    let a = cluster.nodes[0]
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    let attempt = try await cluster.attempts(job)[0]
    try await cluster.store.connection.transaction { transaction in
      for table in JobStore.tablesOfJobs { try transaction.execute("DELETE FROM \(table)") }
      try transaction.execute("DELETE FROM jobs")
    }
    #expect(try await cluster.eventually(within: .seconds(15)) { !cluster.isAlive(attempt) })
    // What it has recorded stays.
    #expect(FileManager.default.fileExists(atPath: "\(a.folder)/\(attempt.folder)/journal.ndjson"))
    let hasEnded = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await a.supervisor.drain()
        return true
      }
      group.addTask {
        try? await Task.sleep(for: .seconds(15))
        await a.supervisor.detach()
        return false
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
    #expect(hasEnded)
  }

  @Test("An attempt whose beginning a failover has lost ends, and another one follows")
  func lostAttempt() async throws {
    let cluster = try await TestCluster(["a"])
    let a = cluster.nodes[0]
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    let lost = try await cluster.attempts(job)[0]
    try await cluster.store.connection.transaction { transaction in
      try transaction.execute("DELETE FROM attempts")
      try transaction.execute("UPDATE jobs SET attempt = 0, attempt_id = NULL, started_at = NULL, state = 'starting'")
    }
    #expect(try await cluster.eventually { !cluster.isAlive(lost) })
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    let next = try await cluster.attempts(job)[0]
    #expect(next.attemptID != lost.attemptID && cluster.isAlive(next))
    try await cluster.end()
  }

  @Test("A pause on a node that is cut off reaches the node that has taken the job")
  func pauseOfFormer() async throws {
    let cluster = try await TestCluster(["a", "b"])
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    try await Task.sleep(for: .milliseconds(TestCluster.lease))
    a.connection.isCut = true
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: b, attempt: 2) })
    #expect(await a.supervisor.commandWithoutDatabase(.pause, of: job, project: "p", users: nil)?.isDone == true)
    a.connection.isCut = false
    #expect(try await cluster.eventually { await b.supervisor.live(job)?.paused == PauseState(all: true) })
    #expect(try await cluster.eventually { try await cluster.job(job).paused.contains(#""all":true"#) })
    try await cluster.end()
  }

  @Test(
    "A node that ends hands its jobs over: the successor joins first, then the former leaves",
    arguments: TestDatabase.available)
  func handover(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b"], database) { $0.drainTimeout = TimeSpan(milliseconds: 500) }
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    await a.supervisor.drain()
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: b, attempt: 2) })
    let attempts = try await cluster.attempts(job)
    #expect(attempts[0].how == "is handed over by the node a" && !attempts[0].isTakenOver)
    #expect(attempts[0].storedAt != nil && !cluster.isAlive(attempts[0]) && cluster.isAlive(attempts[1]))
    let (left, began) = (try #require(attempts[0].endedAt), attempts[1].startedAt)
    // An overlap and no gap: the successor had joined.
    #expect(left > began)
    #expect(try await cluster.command(.stop, job, by: b) == CommandResult())
    #expect(try await cluster.eventually { try await cluster.job(job).state == .finished })
    #expect(
      try await cluster.events(job) == [
        "job.started", "participant.joined", "job.restarted", "participant.joined", "job.finished",
      ])
    for node in cluster.nodes { await node.supervisor.detach() }
  }

  @Test("Without another node that has room a node that ends stores its jobs in order")
  func drainAlone() async throws {
    let cluster = try await TestCluster(["a", "b"], waits: ["b"]) { $0.drainTimeout = TimeSpan(milliseconds: 500) }
    let a = cluster.nodes[0]
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    await a.supervisor.drain()
    #expect(try await cluster.job(job).reason == "drained")
    #expect(try await cluster.attempts(job).count == 1)
  }

  @Test("An operator drains a node: it takes nothing, hands its jobs over, and takes jobs again afterwards")
  func operatorDrain() async throws {
    let cluster = try await TestCluster(["a", "b"]) { $0.drainTimeout = TimeSpan(milliseconds: 500) }
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let job = try await cluster.submit(to: a)
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: a, attempt: 1) })
    #expect(try await cluster.store.setDraining("a", true))
    #expect(try await cluster.eventually { try await cluster.isRunning(job, on: b, attempt: 2) })
    #expect(await !a.supervisor.missing.isEmpty)
    await #expect(throws: CapacityShortage.self) { try await a.supervisor.reserve(.record) }
    #expect(try await cluster.store.setDraining("b", true))
    // Nobody is left: the job runs on.
    try await Task.sleep(for: .seconds(2))
    let waiting = try await cluster.submit()
    try await Task.sleep(for: .seconds(1))
    #expect(try await cluster.isRunning(job, on: b, attempt: 2))
    #expect(try await cluster.job(waiting).state == .queued)
    #expect(try await cluster.store.setDraining("a", false))
    #expect(try await cluster.eventually { try await cluster.isRunning(waiting, on: a, attempt: 1) })
    try await cluster.end()
  }

  @Test(
    "Scheduled jobs begin on some node when they are due, and jobs that wait are paused and stopped by any",
    arguments: TestDatabase.available)
  func waiting(database: TestDatabase) async throws {
    let cluster = try await TestCluster(["a", "b"], database, processors: 120)
    let (a, b) = (cluster.nodes[0], cluster.nodes[1])
    let now = try await cluster.store.now()
    let due = try await cluster.submit(state: .scheduled, queueFor: 0) { $0.startAt = now + 1_500 }
    let later = try await cluster.submit(state: .scheduled, queueFor: 0) { $0.startAt = now + 3_600_000 }
    #expect(try await cluster.command(.pause, later, by: a)?.effectiveAt != nil)
    #expect(try await cluster.job(later).paused.contains(#""all":true"#))
    #expect(try await cluster.command(.stop, later, by: b) == CommandResult())
    #expect(try await cluster.job(later).state == .cancelled)
    #expect(try await cluster.job(due).state == .scheduled)
    #expect(try await cluster.eventually { try await cluster.job(due).state == .running })
    // Each node has room for one job.
    let other = try await cluster.submit()
    #expect(try await cluster.eventually { try await cluster.job(other).state == .running })
    #expect(Set([try await cluster.job(due).node, try await cluster.job(other).node]).count == 2)
    // The other node says so by its next sign of life.
    #expect(try await cluster.eventually { await !a.supervisor.hasRoomElsewhere() })
    let tired = try await cluster.submit(queueFor: 100)
    #expect(try await cluster.eventually { try await cluster.job(tired).state == .failed })
    #expect(try await cluster.job(tired).reason == "noCapacity")
    #expect(try await cluster.job(tired).sentence?.contains("processors") == true)
    try await cluster.end()
  }

  @Test("A second service with the name of a node that lives refuses to begin")
  func sameName() async throws {
    let cluster = try await TestCluster(["a"])
    #expect(try await !cluster.store.join(NewNode(name: "a", identity: "x", advertise: nil, version: "1")))
    try await cluster.end()
  }
}
