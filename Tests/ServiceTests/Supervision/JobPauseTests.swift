import JobProtocol
import Media
import SQLStore
import Service
import Testing

@Suite("the pause of a job")
struct JobPauseTests {
  typealias Behaviour = SimulatedJob.Behaviour
  private let everybody = PauseState(all: true)

  private func order(_ simulation: SimulatedJob) -> [String] {
    simulation.actions.compactMap { action in
      switch action {
      case .notePause(let state): state.isPaused ? "note pause" : "note resumption"
      case .sendChange(.pause, _): "send pause"
      case .sendChange(.resume, _): "send resume"
      case .complete(_, .effective): "acknowledge"
      case .complete(_, .failed): "fail"
      case .startProcess(let state): state.isPaused ? "start paused" : "start"
      default: nil
      }
    }
  }

  @Test("a pause is written before it is acknowledged")
  func pause() {
    var simulation = SimulatedJob()
    simulation.at(.seconds(5), .changePause(.pause(nil), command: 1))
    simulation.run(until: .seconds(6))
    #expect(order(simulation) == ["start", "note pause", "send pause", "acknowledge"])
    #expect(simulation.process?.pause == everybody)
  }

  @Test("a resumption is written first and applied then")
  func resume() {
    var record = JobLifecycle.Record(.starting)
    record.pause = everybody
    var simulation = SimulatedJob(record)
    simulation.at(.seconds(5), .changePause(.resume(nil), command: 1))
    simulation.run(until: .seconds(6))
    #expect(order(simulation) == ["start paused", "note resumption", "send resume", "acknowledge"])
  }

  @Test("every attempt begins with the pause, also one that was requested between two attempts")
  func attempts() {
    var simulation = SimulatedJob(behaviours: [Behaviour(crashesAfter: .seconds(10))])
    simulation.at(.seconds(5), .changePause(.pause(["anna"]), command: 1))
    simulation.at(.milliseconds(10_500), .changePause(.pause(["bert"]), command: 2))
    simulation.run(until: .seconds(12))
    #expect(simulation.startPauses == [.none, PauseState(users: ["anna", "bert"])])
    #expect(simulation.completions == [1: .effective(at: 1), 2: .effective(at: nil)])
  }

  @Test("the next attempt begins with all ids and names that the process has paused")
  func names() {
    let paused = PauseState(users: ["1", "anna"])
    var simulation = SimulatedJob(behaviours: [Behaviour(crashesAfter: .seconds(10), pausesAs: paused)])
    simulation.at(.seconds(5), .changePause(.pause(["1"]), command: 1))
    simulation.run(until: .seconds(12))
    #expect(simulation.startPauses == [.none, paused])
    #expect(simulation.notedPause == paused && simulation.problems == [])
  }

  @Test("a process that may have resumed, and cannot be asked to pause again, is ended")
  func unreachableAfterResumption() {
    var record = JobLifecycle.Record(.starting)
    record.pause = everybody
    var simulation = SimulatedJob(record, behaviours: [Behaviour(hangsAfter: .milliseconds(5_000)), Behaviour()])
    simulation.at(.milliseconds(4_995), .changePause(.resume(nil), command: 1))
    simulation.at(.seconds(6), .disconnected)
    simulation.run(until: .seconds(60))
    #expect(simulation.startPauses == [everybody, everybody])
    #expect(simulation.signals.first.map { ($0.1 - SimulatedJob.origin).seconds < 17 } == true)
  }

  @Test("a resumption that the process refuses leaves the job paused")
  func rejected() {
    var record = JobLifecycle.Record(.starting)
    record.pause = everybody
    var simulation = SimulatedJob(record, behaviours: [Behaviour(rejectsChanges: true)])
    simulation.at(.seconds(5), .changePause(.resume(nil), command: 1))
    simulation.run(until: .seconds(6))
    #expect(simulation.completions == [1: .failed("No.")])
    #expect(simulation.notedPause == everybody)
    #expect(simulation.job.pause == everybody)
    #expect(
      order(simulation) == [
        "start paused", "note resumption", "send resume", "note pause", "send pause", "fail", "send pause",
      ])
  }

  @Test("a pause after a resumption that failed is repeated until the process confirms it, or the process ends")
  func repeated() {
    var record = JobLifecycle.Record(.starting)
    record.pause = everybody
    // It answers, but carries out nothing: neither the resumption nor the pause is confirmed.
    var simulation = SimulatedJob(record, behaviours: [Behaviour(ignoresChanges: true), Behaviour()])
    simulation.at(.seconds(5), .changePause(.resume(nil), command: 1))
    simulation.run(until: .seconds(40))
    #expect(order(simulation).prefix(7).suffix(4) == ["note pause", "send pause", "fail", "send pause"])
    #expect(simulation.signals.first.map { ($0.1 - SimulatedJob.origin).seconds.rounded() } == 25)
    #expect(simulation.startPauses == [everybody, everybody])
    #expect(simulation.completions.keys.sorted() == [1])
  }

  @Test("a pause that is repeated is sent again after the connection was lost")
  func repeatedAfterLoss() {
    var record = JobLifecycle.Record(.starting)
    record.pause = everybody
    var simulation = SimulatedJob(record, behaviours: [Behaviour(ignoresChanges: true)])
    simulation.at(.seconds(5), .changePause(.resume(nil), command: 1))
    simulation.at(.seconds(16), .disconnected)
    simulation.at(.seconds(17), .connected)
    simulation.run(until: .seconds(18))
    #expect(order(simulation).suffix(3) == ["fail", "send pause", "send pause"])
  }

  @Test("a resumption whose process dies, or does not answer, leaves the job paused", arguments: [true, false])
  func unconfirmed(dies: Bool) {
    var record = JobLifecycle.Record(.starting)
    record.pause = PauseState(users: ["anna"])
    let first = dies ? Behaviour(crashesAfter: .milliseconds(5_000)) : Behaviour(hangsAfter: .milliseconds(5_000))
    var simulation = SimulatedJob(record, behaviours: [first, Behaviour()])
    simulation.at(.milliseconds(4_995), .changePause(.resume(["anna"]), command: 1))
    simulation.run(until: .seconds(60))
    #expect(simulation.startPauses == [record.pause, record.pause])
    #expect(simulation.notedPause == record.pause)
    guard case .failed = simulation.completions[1] else {
      Issue.record("The resumption is \(String(describing: simulation.completions[1])).")
      return
    }
  }

  @Test("a resumption that an earlier service wrote, but did not complete, pauses again if it fails")
  func halfDone() {
    var simulation = SimulatedJob(behaviours: [Behaviour(hangsAfter: .seconds(1)), Behaviour()])
    simulation.at(.seconds(2), .changePause(.resume(["anna"]), command: 1))
    simulation.run(until: .seconds(60))
    #expect(simulation.startPauses.last == PauseState(users: ["anna"]))
  }

  @Test("a process that does not pause is ended, and the next one begins paused")
  func hangingPause() {
    var simulation = SimulatedJob(behaviours: [Behaviour(hangsAfter: .seconds(5)), Behaviour()])
    simulation.at(.seconds(6), .changePause(.pause(nil), command: 1))
    simulation.run(until: .seconds(60))
    #expect(simulation.startPauses == [.none, everybody])
    #expect(simulation.completions == [1: .effective(at: nil)])
    #expect(simulation.signals.first.map { ($0.1 - SimulatedJob.origin).seconds < 17 } == true)
  }

  @Test("changes are carried out one after the other, in their order")
  func inOrder() {
    var simulation = SimulatedJob()
    simulation.databaseDelay = .milliseconds(200)
    for (index, kind) in [
      JobLifecycle.PauseChange.Kind.pause(nil), .resume(["anna"]), .pause(["anna"]), .resume(nil), .pause(["bert"]),
    ].enumerated() {
      simulation.at(.seconds(5), .changePause(kind, command: Int64(index)))
    }
    simulation.run(until: .seconds(10))
    #expect(simulation.completions.count == 5)
    #expect(simulation.process?.pause == PauseState(users: ["bert"]))
    #expect(simulation.notedPause == PauseState(users: ["bert"]))
    #expect(simulation.problems == [])
  }

  @Test("a change of a job that has ended fails")
  func tooLate() {
    var simulation = SimulatedJob(behaviours: [Behaviour(endsAfter: .seconds(1))])
    simulation.run(until: .seconds(10))
    simulation.receive(.changePause(.pause(nil), command: 1))
    #expect(simulation.completions == [1: .failed("The job has ended.")])
  }
}
