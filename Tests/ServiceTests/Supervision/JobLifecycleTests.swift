import JobProtocol
import Media
import SQLStore
import Service
import TestSupport
import Testing

@Suite("the life of a job")
struct JobLifecycleTests {
  typealias Behaviour = SimulatedJob.Behaviour

  @Test("a job starts, runs when its room is joined, is stopped and stored, in this order")
  func whole() {
    var simulation = SimulatedJob()
    simulation.at(.seconds(10), .stop(command: 1))
    simulation.run(until: .seconds(100))
    #expect(simulation.states == [.starting, .running, .stopping, .storing, .finished])
    #expect(simulation.end?.end.reason == .stopped)
    #expect(simulation.completions == [1: .done])
    #expect(simulation.signals.isEmpty)
    #expect(simulation.problems == [])
    #expect(
      simulation.actions == [
        .noteAttempt(number: 1, restartOf: nil), .startProcess(.none), .noteRunning,
        .noteStopping(JobLifecycle.End(.stopped, "The job was stopped.")), .sendStop,
        .complete(command: 1, .done), .noteAttemptEnded(how: "ended with exit code 0", failures: 0, next: nil),
        .store(JobLifecycle.End(.stopped, "The job was stopped.")),
        .finish(.finished, JobLifecycle.End(.stopped, "The job was stopped.")),
      ])
  }

  @Test(
    "a job that was not started is cancelled by a stop, and keeps no files", arguments: [JobState.scheduled, .queued])
  func cancelled(state: JobState) {
    var record = JobLifecycle.Record(state)
    record.startAt = SimulatedJob.origin + .seconds(3_600)
    record.queueUntil = SimulatedJob.origin + .seconds(3_600)
    var simulation = SimulatedJob(record, hasCapacity: { _ in false })
    simulation.at(.seconds(5), .stop(command: 1))
    simulation.run(until: .seconds(10))
    #expect(simulation.end?.state == .cancelled)
    #expect(simulation.end?.end.reason == .stopped)
    #expect(simulation.completions == [1: .done])
    #expect(!simulation.actions.contains { if case .store = $0 { true } else { false } })
  }

  @Test("a scheduled job follows the clock when that is set, and a job that waits does not")
  func clock() {
    var record = JobLifecycle.Record(.scheduled)
    record.startAt = SimulatedJob.origin + .seconds(60)
    var simulation = SimulatedJob(record)
    simulation.at(.seconds(10), .clockChanged(by: .seconds(30)))
    simulation.at(.seconds(12), .clockChanged(by: .seconds(-10)))
    simulation.run(until: .seconds(100))
    #expect(simulation.startTimes.first.map { ($0 - SimulatedJob.origin).seconds.rounded() } == 40)
    record = JobLifecycle.Record(.queued)
    record.queueUntil = SimulatedJob.origin + .seconds(60)
    simulation = SimulatedJob(record) { _ in false }
    simulation.at(.seconds(10), .clockChanged(by: .seconds(30)))
    simulation.run(until: .seconds(100))
    #expect(simulation.end.map { ($0.at - SimulatedJob.origin).seconds.rounded() } == 60)
  }

  @Test("a scheduled job begins at its time")
  func scheduled() {
    var record = JobLifecycle.Record(.scheduled)
    record.startAt = SimulatedJob.origin + .seconds(90)
    var simulation = SimulatedJob(record)
    simulation.run(until: .seconds(95))
    #expect(simulation.startTimes.first.map { $0 - SimulatedJob.origin < .seconds(91) } == true)
    #expect(simulation.startTimes.first.map { $0 - SimulatedJob.origin >= .seconds(90) } == true)
    #expect(simulation.states == [.scheduled, .queued, .starting, .running])
  }

  @Test("a job waits for capacity as long as it may, and starts within a second when there is some")
  func queued() {
    var record = JobLifecycle.Record(.queued)
    record.queueUntil = SimulatedJob.origin + .seconds(30)
    var waiting = SimulatedJob(record, hasCapacity: { $0 - SimulatedJob.origin > .seconds(20) })
    waiting.run(until: .seconds(25))
    #expect(waiting.startTimes.first.map { $0 - SimulatedJob.origin < .milliseconds(21_100) } == true)

    var full = SimulatedJob(record, hasCapacity: { _ in false })
    full.run(until: .seconds(60))
    #expect(full.end?.state == .failed)
    #expect(full.end?.end == JobLifecycle.End(.noCapacity, "The memory is used."))
    #expect(full.end.map { $0.at - SimulatedJob.origin < .seconds(31) } == true)
  }

  @Test("attempts that die at once follow each other after 1, 2, 4 and 8 s, and the fifth ends the job")
  func crashing() {
    var simulation = SimulatedJob(behaviours: [Behaviour(crashesAfter: .milliseconds(200))])
    simulation.run(until: .seconds(100))
    #expect(simulation.end?.state == .failed)
    #expect(simulation.end?.end.reason == .crashing)
    #expect(simulation.startTimes.count == 5)
    let waits = zip(simulation.startTimes, simulation.startTimes.dropFirst()).map { ($1 - $0).seconds.rounded(.down) }
    #expect(waits == [1, 2, 4, 8])
    #expect(simulation.states.last == .failed)
    #expect(simulation.problems == [])
  }

  @Test("an attempt that lived for a minute ends the row of failures")
  func longLived() {
    let short = Behaviour(crashesAfter: .seconds(1))
    let long = Behaviour(crashesAfter: .seconds(61))
    var simulation = SimulatedJob(behaviours: [short, short, short, short, long, short, short, Behaviour()])
    simulation.run(until: .seconds(600))
    #expect(simulation.startTimes.count == 8)
    #expect(simulation.job.state == .running)
    #expect(simulation.problems == [])
  }

  @Test("a program that cannot be started ends the job as one that dies does")
  func cannotStart() {
    var simulation = SimulatedJob(behaviours: [Behaviour(cannotStart: true)])
    simulation.run(until: .seconds(100))
    #expect(simulation.end?.end.reason == .crashing)
    #expect(simulation.end?.end.sentence.contains("There is no such program.") == true)
    #expect(simulation.startTimes.count == 5)
  }

  @Test("a process that hangs gets SIGABRT after 15 s without an answer, SIGKILL 5 s later, and another one follows")
  func hanging() {
    var simulation = SimulatedJob(behaviours: [
      Behaviour(hangsAfter: .seconds(100), survivesAbort: true), Behaviour(),
    ])
    simulation.run(until: .seconds(140))
    #expect(simulation.signals.map(\.0) == [.abort, .kill])
    let times = simulation.signals.map { ($0.1 - SimulatedJob.origin).seconds.rounded() }
    #expect(times == [115, 120])
    #expect(simulation.startTimes.last.map { ($0 - SimulatedJob.origin).seconds.rounded() } == 121)
    #expect(simulation.job.state == .running)
    #expect(simulation.job.failures == 0)
    #expect(simulation.problems == [])
  }

  @Test("a process that never answers is ended too")
  func neverAnswers() {
    var simulation = SimulatedJob(behaviours: [Behaviour(hangsAfter: .zero, survivesAbort: true)])
    simulation.run(until: .seconds(200))
    #expect(simulation.end?.end.reason == .crashing)
    #expect(simulation.problems == [])
  }

  @Test("a process is not ended because the service itself did not run")
  func lateService() {
    var simulation = SimulatedJob()
    simulation.run(until: .seconds(20))
    simulation.process?.behaviour.hangsAfter = .seconds(20)
    simulation.run(until: .seconds(30))
    simulation.receive(.serviceWasLate(.seconds(8)))
    simulation.run(until: .seconds(42))
    #expect(simulation.signals.isEmpty)
    simulation.run(until: .seconds(44))
    #expect(simulation.signals.map(\.0) == [.abort])
  }

  @Test("a stop succeeds while no process lives, and no other attempt follows")
  func stopBetweenAttempts() {
    var simulation = SimulatedJob(behaviours: [Behaviour(crashesAfter: .seconds(61))])
    simulation.run(until: .milliseconds(61_500))
    #expect(simulation.process == nil)
    simulation.receive(.stop(command: 7))
    simulation.run(until: .seconds(100))
    #expect(simulation.end?.state == .finished)
    #expect(simulation.end?.end.reason == .stopped)
    #expect(simulation.completions == [7: .done])
    #expect(simulation.startTimes.count == 1)
  }

  @Test("a stop succeeds for a process that hangs, and is repeated without an effect")
  func stopHanging() {
    var simulation = SimulatedJob(behaviours: [Behaviour(hangsAfter: .seconds(5), survivesAbort: true)])
    for second in 6..<40 { simulation.at(.seconds(second), .stop(command: Int64(second))) }
    simulation.run(until: .seconds(100))
    #expect(simulation.end?.state == .finished)
    #expect(simulation.end.map { $0.at - SimulatedJob.origin < .seconds(30) } == true)
    #expect(simulation.completions.count == 34)
    #expect(Set(simulation.completions.values) == [.done])
    #expect(simulation.startTimes.count == 1)
    #expect(simulation.problems == [])
  }

  @Test("a job that lasts as long as it may while it waits for an attempt ends")
  func duration() {
    var record = JobLifecycle.Record(.starting)
    record.duration = .seconds(62)
    var simulation = SimulatedJob(record, behaviours: [Behaviour(crashesAfter: .seconds(61.5))])
    simulation.run(until: .seconds(100))
    #expect(simulation.end?.end.reason == .duration)
    #expect(simulation.startTimes.count == 1)
  }

  @Test(
    "the reason of the process counts, except where the service stopped it for another one",
    arguments: JobEndReason.allCases)
  func reasons(reason: JobEndReason) {
    var simulation = SimulatedJob(behaviours: [Behaviour(endsAfter: .seconds(5), endReason: reason)])
    simulation.run(until: .seconds(20))
    #expect(simulation.end?.end.reason == reason)
    #expect(simulation.end?.state == (reason.isFailure ? .failed : .finished))

    var drained = SimulatedJob()
    drained.at(.seconds(3), .drainIsOver)
    drained.run(until: .seconds(20))
    #expect(drained.end?.end.reason == .drained)
  }

  @Test("jobs that wait stay as they are while the service ends")
  func draining() {
    var record = JobLifecycle.Record(.queued)
    record.queueUntil = SimulatedJob.origin + .seconds(30)
    var simulation = SimulatedJob(record, hasCapacity: { _ in false })
    simulation.at(.seconds(5), .drain)
    simulation.at(.seconds(6), .drainIsOver)
    simulation.run(until: .seconds(100))
    #expect(simulation.end == nil)
    #expect(simulation.job.state == .queued)
  }

  @Test("storing is tried until it succeeds")
  func storing() {
    var simulation = SimulatedJob(behaviours: [Behaviour(endsAfter: .seconds(1))])
    simulation.storingFails = 10
    simulation.run(until: .seconds(1_000))
    #expect(simulation.end?.end.reason == .empty)
    #expect(simulation.problems == [])
  }

  @Test("a job that was claimed begins with the process of its new attempt, and one that ends is only stored")
  func claimed() {
    var record = JobLifecycle.Record(.starting)
    record.attempt = 2
    record.attemptStartedAt = SimulatedJob.origin
    record.pause = PauseState(all: true)
    record.claim()
    var simulation = SimulatedJob(record)
    simulation.at(.seconds(10), .stop(command: 1))
    simulation.run(until: .seconds(100))
    #expect(simulation.actions.prefix(2) == [.startProcess(PauseState(all: true)), .noteRunning])
    #expect(simulation.job.attempt == 2)
    #expect(simulation.end?.end.reason == .stopped)
    #expect(simulation.problems == [])

    for state in [JobState.stopping, .storing] {
      var ending = record
      ending.state = state
      ending.stop = JobLifecycle.End(.stopped, "The job was stopped.")
      ending.attemptStartedAt = SimulatedJob.origin
      ending.claim()
      var stored = SimulatedJob(ending)
      stored.run(until: .seconds(10))
      #expect(stored.startTimes.isEmpty)
      #expect(stored.end?.end.reason == .stopped)
    }
  }

  @Test("a job that another service has taken is left alone")
  func superseded() {
    var simulation = SimulatedJob()
    simulation.run(until: .seconds(5))
    simulation.receive(.superseded)
    let count = simulation.actions.count
    simulation.receive(.stop(command: 1))
    simulation.receive(.time)
    #expect(simulation.actions.count == count)
    #expect(simulation.actions.last == .abandon)
  }

  @Test("stalls are noted once, and end with their process")
  func stalled() {
    var simulation = SimulatedJob(behaviours: [Behaviour(crashesAfter: .seconds(70)), Behaviour()])
    for second in 40..<50 { simulation.at(.seconds(second), .stalled(true)) }
    simulation.run(until: .seconds(100))
    #expect(
      simulation.actions.filter { if case .noteStalled = $0 { true } else { false } } == [
        .noteStalled(true), .noteStalled(false),
      ])
  }
}
