import Foundation
import JSON
import JobProcess
import JobProtocol
import Recorder
import Testing

@Suite("the control socket of a job") struct ControlSocketTests {
  @Test("it says who runs, what happens, and that it does not know a request")
  func requests() async throws {
    let job = try TestJob()
    let running = job.start()
    let client = try await ControlClient(to: job)
    let hello = try client.ask(.hello, id: 5)
    #expect(
      hello
        == ControlAnswer(
          id: 5, .hello(.init(version: "1.2.3", job: "job-1", attempt: 1, attemptID: "attempt-1", process: getpid()))))
    let status = try client.ask(.status)
    #expect(status.status?.state == "starting" && status.status?.users == [])
    #expect((status.status?.privateBytes ?? 0) > 100_000 && (status.status?.cpuSeconds ?? 0) > 0)
    let unknown = try client.ask(.unknown("fly"))
    #expect(unknown.errorCode == "unknownRequest" && unknown.id == 7)
    client.send("{}")
    let bad = try client.answer()
    #expect(bad.errorCode == "badRequest")
    let snapshot = try client.ask(.snapshot(user: "u1", stream: nil))
    #expect(snapshot.errorCode == "notNow")
    let stop = try client.ask(.stop(reason: .drained))
    #expect(stop.result == .stopping)
    #expect(client.waitForEnd())
    #expect(try await running.value.code == 0)
    #expect(try job.ended()?.reason == .drained)
  }

  @Test("a subscription sends a status each second, beside the answers to other requests")
  func subscription() async throws {
    let job = try TestJob()
    let running = job.start()
    let client = try await ControlClient(to: job)
    let first = try client.ask(.subscribe, id: 1)
    let second = try client.answer()
    #expect(first.id == 1 && second.id == 1)
    let distance = (second.status?.time ?? 0) - (first.status?.time ?? 0)
    #expect((900...5_000).contains(distance))
    let again = try client.ask(.subscribe, id: 2)
    #expect(again.errorCode == "notNow" && again.id == 2)
    _ = try client.ask(.stop(reason: nil))
    #expect(try await running.value.code == 0)
  }

  @Test("a pause is in the journal before it is answered, and outlives the process")
  func pausing() async throws {
    let job = try TestJob(TestJob.specification(.record))
    let running = job.start()
    let client = try await ControlClient(to: job)
    let everybody = try client.ask(.pause(users: nil))
    #expect(try job.events().last?.type == "paused")
    guard case .paused(let change) = everybody.result else {
      Issue.record("The answer is no pause.")
      return
    }
    #expect(change.state == PauseState(all: true))
    #expect(abs(change.effectiveAt - Int64(Date().timeIntervalSince1970 * 1_000)) < 5_000)
    let resumed = try client.ask(.resume(users: ["u1"]))
    guard case .paused(let resume) = resumed.result else {
      Issue.record("The answer is no pause.")
      return
    }
    #expect(resume.state == PauseState(all: true, resumedUsers: ["u1"]))
    #expect(
      try job.events().last == .resumed(.init(users: ["u1"], effectiveAt: resume.effectiveAt, state: resume.state)))
    let status = try client.ask(.status)
    #expect(status.status?.paused == resume.state)
    let empty = try client.ask(.pause(users: []))
    #expect(empty.errorCode == "badRequest")
    let many = try client.ask(.pause(users: (0..<1_001).map { "\($0)" }))
    #expect(many.errorCode == "badRequest")
    _ = try client.ask(.stop(reason: nil))
    _ = try await running.value
    _ = try await job.run { job in
      #expect(job.paused.all && job.paused.resumed == ["u1"])
      return JobResult(.stopped, "The job was stopped.")
    }
  }

  @Test("a job that requires consent begins with everybody paused, unless its specification says who is")
  func consent() async throws {
    for (paused, expected) in [(nil, PauseState(all: true)), (PauseState.none, .none)] {
      var specification = TestJob.specification(.record)
      specification.options["consent"] = "required"
      specification.paused = paused
      let job = try TestJob(specification)
      _ = try await job.run { job in
        #expect(job.paused.all == expected.all)
        return JobResult(.stopped, "The job was stopped.")
      }
      guard case .started(let start)? = try job.events().first else {
        Issue.record("The journal does not begin with started.")
        return
      }
      #expect(start.paused == expected)
    }
  }

  @Test("a job that records nothing cannot be paused")
  func notRecording() async throws {
    let job = try TestJob()
    let running = job.start()
    let client = try await ControlClient(to: job)
    let pause = try client.ask(.pause(users: nil))
    #expect(pause.errorCode == "notSupported")
    _ = try client.ask(.stop(reason: nil))
    _ = try await running.value
    #expect(try job.events().map(\.type) == ["started", "ended"])
  }

  @Test("a line of more than 64 KiB closes its connection only")
  func longLine() async throws {
    let job = try TestJob()
    let running = job.start()
    let client = try await ControlClient(to: job)
    let other = try await ControlClient(to: job)
    client.send(String(repeating: "x", count: 70_000))
    let refused = try client.answer()
    #expect(refused.errorCode == "badRequest")
    #expect(client.waitForEnd())
    let hello = try other.ask(.hello)
    #expect(hello.errorCode == nil)
    _ = try other.ask(.stop(reason: nil))
    _ = try await running.value
  }

  @Test("sixteen clients can be connected, and the next one when one has gone")
  func manyClients() async throws {
    let job = try TestJob()
    let running = job.start()
    var clients: [ControlClient] = []
    for _ in 0..<16 {
      let client = try await ControlClient(to: job)
      let hello = try client.ask(.hello)
      #expect(hello.errorCode == nil)
      clients.append(client)
    }
    let refused = try await ControlClient(to: job)
    #expect(refused.waitForEnd())
    clients.removeFirst()
    var stopped = false
    for _ in 0..<100 where !stopped {
      let client = try await ControlClient(to: job)
      stopped = (try? client.ask(.stop(reason: nil)).result) == .stopping
      if !stopped { try await Task.sleep(for: .milliseconds(50)) }
    }
    #expect(stopped)
    _ = try await running.value
  }

  @Test("a job without a connected service ends in order after a time, and not while one is connected")
  func orphan() async throws {
    var specification = TestJob.specification()
    specification.orphanLimit = 1_500
    let job = try TestJob(specification)
    let running = job.start()
    var client: ControlClient? = try await ControlClient(to: job)
    _ = try client?.ask(.hello)
    try await Task.sleep(for: .seconds(3))
    #expect(try job.ended() == nil)
    client = nil
    let gone = ContinuousClock.now
    #expect(try await running.value.code == 0)
    #expect(ContinuousClock.now - gone > .seconds(1))
    #expect(try job.ended()?.reason == .drained)
  }
}
