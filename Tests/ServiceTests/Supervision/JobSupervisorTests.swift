import Foundation
import JobProtocol
import OptionValues
import SQLStore
import Service
import Testing

@Suite("the supervision of real processes", .serialized)
struct JobSupervisorTests {
  @Test("a job runs, is stopped and stored, with its events in order")
  func whole() async throws {
    let service = try await TestService()
    let job = try await service.submit("100", pin: "1234")
    let running = try await service.wait(job, for: .running)
    #expect(running.state == .running)
    #expect(running.startedAt != nil)
    let attempt = try await service.attempt(job)
    let passed = try String(
      contentsOfFile: "\(service.folder)/\(attempt.record.folder)/secrets-were", encoding: .utf8)
    #expect(passed == "1234")
    let result = try await service.command(.stop, job)
    #expect(result == CommandResult())
    let ended = try await service.wait(job, for: .finished)
    #expect(ended.state == .finished)
    #expect(ended.reason == "stopped")
    #expect(ended.secrets == nil)
    #expect(service.storedJobs == [job])
    #expect(try await service.events(job) == ["job.started", "participant.joined", "job.finished"])
    await service.supervisor.detach()
  }

  @Test("the credentials of TURN servers reach the process, and no file of its folder has them")
  func iceCredentials() async throws {
    let path = NSTemporaryDirectory() + "turn-\(UUID().uuidString)"
    try "bot:se:cr:et\n".write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let service = try await TestService { $0.servers["main"]?.iceCredentialsFile = path }
    let job = try await service.submit("100")
    _ = try await service.wait(job, for: .running)
    let attempt = try await service.attempt(job)
    let folder = "\(service.folder)/\(attempt.record.folder)"
    #expect(try String(contentsOfFile: "\(folder)/ice-was", encoding: .utf8) == "bot se:cr:et")
    #expect(try !String(contentsOfFile: "\(folder)/spec.json", encoding: .utf8).contains("se:cr:et"))
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    await service.supervisor.detach()
  }

  @Test("a process that crashes at its start ends the job after five attempts")
  func crashing() async throws {
    let service = try await TestService()
    let job = try await service.submit("crash")
    let ended = try await service.wait(job, for: .failed)
    #expect(ended.reason == "crashing")
    #expect(ended.attempt == 5)
    #expect(try await service.store.attempts(of: job).allSatisfy { $0.how == "was ended by signal 11 (SIGSEGV)" })
    #expect(
      try await service.events(job) == [
        "job.restarted", "job.restarted", "job.restarted", "job.restarted", "job.failed",
      ])
    await service.supervisor.detach()
  }

  @Test("the reason of a server that refuses ends the job at once")
  func refused() async throws {
    let service = try await TestService()
    let job = try await service.submit("refuse")
    let ended = try await service.wait(job, for: .failed)
    #expect(ended.reason == "serverRefused")
    #expect(ended.sentence == "The server refused.")
    #expect(ended.attempt == 1)
    await service.supervisor.detach()
  }

  @Test("a process that stops answering is ended, and another attempt follows", arguments: [true, false])
  func hanging(isStopped: Bool) async throws {
    let service = try await TestService(answerWithin: .seconds(3))
    let job = try await service.submit(isStopped ? "100" : "hang")
    _ = try await service.wait(job, for: .running)
    if isStopped { kill(try await service.attempt(job).process, SIGSTOP) }
    let again = try await service.wait(job, forAttempt: 2)
    #expect(again.attempt == 2)
    #expect(try await service.store.attempts(of: job).first?.how == "was ended by signal 6 (SIGABRT)")
    _ = try await service.command(.stop, job)
    #expect(try await service.wait(job, for: .finished).reason == "stopped")
    await service.supervisor.detach()
  }

  @Test("a pause is stored, given to the next attempt, and ended by a resumption")
  func pause() async throws {
    let service = try await TestService()
    let job = try await service.submit("100")
    _ = try await service.wait(job, for: .running)
    let paused = try await service.command(.pause, job)
    #expect(paused?.effectiveAt != nil)
    #expect(try await service.job(job).paused.contains(#""all":true"#))
    kill(try await service.attempt(job).process, SIGKILL)
    _ = try await service.wait(job, forAttempt: 2)
    let status = await service.supervisor.live(job)
    #expect(status?.paused == PauseState(all: true))
    #expect(try await service.command(.resume, job)?.effectiveAt != nil)
    #expect(try await service.job(job).paused.contains(#""all":false"#))
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    #expect(
      try await service.events(job) == [
        "job.started", "participant.joined", "recording.paused", "job.restarted", "participant.joined",
        "recording.resumed", "job.finished",
      ])
    await service.supervisor.detach()
  }

  @Test("a resumption that the process refuses leaves the job paused")
  func refusedResumption() async throws {
    let service = try await TestService()
    let job = try await service.submit("nopause", pause: PauseState(all: true))
    _ = try await service.wait(job, for: .running)
    #expect(try await service.command(.resume, job)?.error == "It does not resume.")
    #expect(try await service.job(job).paused.contains(#""all":true"#))
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    await service.supervisor.detach()
  }

  @Test("a service takes over the processes of the one before, and goes on where their journals were read last")
  func adoption() async throws {
    let service = try await TestService()
    var jobs: [JobID] = []
    for _ in 0..<3 { jobs.append(try await service.submit("100")) }
    for job in jobs { _ = try await service.wait(job, for: .running) }
    let processes = try await [
      service.attempt(jobs[0]).process, service.attempt(jobs[1]).process, service.attempt(jobs[2]).process,
    ]
    await service.supervisor.detach()
    // One is killed while no service runs, one ends by itself.
    kill(processes[1], SIGKILL)
    kill(processes[2], SIGTERM)
    try await Task.sleep(for: .milliseconds(500))
    try await service.start()
    let lost = try await service.wait(jobs[1], forAttempt: 2)
    #expect(lost.attempt == 2)
    #expect(try await service.wait(jobs[2], for: .finished).reason == "stopped")
    let kept = try await service.job(jobs[0])
    #expect(kept.state == .running)
    #expect(kept.attempt == 1)
    #expect(try await service.attempt(jobs[0]).process == processes[0])
    #expect(try await service.command(.pause, jobs[0])?.effectiveAt != nil)
    for job in jobs[..<2] { _ = try await service.command(.stop, job) }
    for job in jobs { #expect(try await service.wait(job, for: .finished).state == .finished) }
    #expect(
      try await service.events(jobs[0]) == ["job.started", "participant.joined", "recording.paused", "job.finished"])
    #expect(try await service.events(jobs[2]) == ["job.started", "participant.joined", "job.finished"])
    await service.supervisor.detach()
  }

  @Test("a job that was submitted while no service ran begins at the next start")
  func lateStart() async throws {
    let service = try await TestService()
    await service.supervisor.detach()
    let job = try await service.submitWithoutService("100")
    try await service.start()
    #expect(try await service.wait(job, for: .running).state == .running)
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    await service.supervisor.detach()
  }

  @Test("a full machine refuses a job with the short resource, and one that may wait begins when there is room")
  func capacity() async throws {
    let service = try await TestService()
    await service.supervisor.detach()
    // Room for one job only.
    try await service.start(processors: 120)
    let first = try await service.submit("100")
    _ = try await service.wait(first, for: .running)
    await #expect(throws: CapacityShortage.self) { try await service.supervisor.reserve(.record) }
    let waiting = try await service.submit("100", state: .queued, queueFor: 20_000)
    let tired = try await service.submit("100", state: .queued, queueFor: 100)
    let failed = try await service.wait(tired, for: .failed)
    #expect(failed.reason == "noCapacity")
    #expect(failed.sentence?.contains("processors") == true)
    #expect(try await service.job(waiting).state == .queued)
    _ = try await service.command(.stop, first)
    #expect(try await service.wait(waiting, for: .running).state == .running)
    _ = try await service.command(.stop, waiting)
    _ = try await service.wait(waiting, for: .finished)
    await service.supervisor.detach()
  }

  @Test("a service that drains accepts nothing, and ends what runs when its time is over")
  func draining() async throws {
    let service = try await TestService { $0.drainTimeout = TimeSpan(milliseconds: 1_000) }
    let job = try await service.submit("100")
    _ = try await service.wait(job, for: .running)
    let began = ContinuousClock.now
    async let drained: Void = service.supervisor.drain()
    try await Task.sleep(for: .milliseconds(200))
    await #expect(throws: CapacityShortage.self) { try await service.supervisor.reserve(.record) }
    #expect(await !service.supervisor.missing.isEmpty)
    await drained
    #expect(ContinuousClock.now - began > .seconds(1))
    let ended = try await service.job(job)
    #expect(ended.state == .finished)
    #expect(ended.reason == "drained")
    #expect(service.storedJobs == [job])
  }

  @Test("a snapshot is put together from its parts")
  func snapshot() async throws {
    let service = try await TestService()
    let job = try await service.submit("100")
    _ = try await service.wait(job, for: .running)
    let bytes = try await service.supervisor.snapshot(of: "anna", in: job)
    #expect(bytes == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A])
    await #expect(throws: SnapshotProblem.noProcess) {
      try await service.supervisor.snapshot(of: "anna", in: .random())
    }
    _ = try await service.command(.stop, job)
    _ = try await service.wait(job, for: .finished)
    await service.supervisor.detach()
  }

  @Test("a stop of many jobs at once, of jobs that have ended, and of jobs that wait")
  func stops() async throws {
    let service = try await TestService()
    var jobs: [JobID] = []
    for _ in 0..<6 { jobs.append(try await service.submit("100")) }
    jobs.append(
      try await service.submit("100", state: .scheduled) { $0.startAt = 4_000_000_000_000 })
    for job in jobs { #expect(try await service.command(.stop, job) == CommandResult()) }
    for job in jobs.dropLast() {
      let record = try await service.wait(job, for: .finished)
      #expect(record.reason == "stopped")
    }
    _ = try await service.wait(jobs[6], for: .cancelled)
    await service.supervisor.detach()
  }
}
