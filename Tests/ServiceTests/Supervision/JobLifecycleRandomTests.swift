import JobProtocol
import Media
import SQLStore
import Service
import TestSupport
import Testing

@Suite("the life of a job, with every event in every state")
struct JobLifecycleRandomTests {
  private typealias Event = JobLifecycle.Event

  private static let events: [Event] = [
    .time, .capacity(granted: true, sentence: ""), .capacity(granted: false, sentence: "No."), .attemptNoted,
    .processStarted, .processNotStarted(sentence: "No."), .connected, .disconnected, .answered, .joined,
    .ended(JobLifecycle.End(.empty, "All left.")), .ended(JobLifecycle.End(.diskFull, "Full.")),
    .processDied(how: "ended"), .stalled(true), .stalled(false), .stop(command: 1),
    .changePause(.pause(nil), command: 2), .changePause(.resume(["anna"]), command: 3), .pauseNoted,
    .changeConfirmed(command: 2, effectiveAt: 1), .changeConfirmed(command: 3, effectiveAt: 1),
    .changeRejected(command: 2, sentence: "No."), .stored, .storingFailed, .drain, .drainIsOver,
    .serviceWasLate(.seconds(5)), .superseded,
  ]

  private static let records: [JobLifecycle.Record] = JobState.allCases.flatMap { state in
    var first = JobLifecycle.Record(state)
    first.queueUntil = SimulatedJob.origin + .seconds(30)
    first.duration = .seconds(100)
    var later = first
    later.attempt = 2
    later.failures = 1
    later.attemptStartedAt = SimulatedJob.origin - .seconds(20)
    later.startedAt = SimulatedJob.origin - .seconds(40)
    later.pause = PauseState(all: true)
    var between = later
    between.attemptStartedAt = nil
    between.nextAttemptAt = SimulatedJob.origin + .seconds(2)
    var stopping = later
    stopping.stop = JobLifecycle.End(.stopped, "Stopped.")
    var claimed = later
    claimed.claim()
    return [first, later, between, stopping, claimed]
  }

  /// What must be true of a job at any time.
  private func problem(_ job: JobLifecycle, _ actions: [JobLifecycle.Action], isOver: Bool) -> String? {
    if isOver, actions.contains(where: { if case .complete = $0 { false } else { true } }), actions != [.abandon] {
      return "It acts after its end: \(actions)."
    }
    if isOver, !job.state.isEnded, !job.isSuperseded { return "It lives again." }
    let waits: Bool
    switch job.phase {
    case .asking, .notingAttempt, .launching, .storing, .over: waits = true
    case .scheduled, .queued: waits = job.isDraining
    case .alive, .waiting, .storingAgain: waits = false
    }
    if !waits, !job.isSuperseded, job.deadline == nil { return "It waits for nothing in \(job.phase)." }
    if job.state == .running, !job.hasProcess { return "It runs without a process." }
    return nil
  }

  @Test("no sequence of three events breaks it, from any state", arguments: [0, 1, 2])
  func sequences(part: Int) {
    var seen: Set<JobLifecycle> = []
    for (index, record) in Self.records.enumerated() where index % 3 == part {
      let now = SimulatedJob.origin
      let (begun, _) = JobLifecycle.begin(record, at: now)
      var level: [(JobLifecycle, [Event])] = [(begun, [])]
      for step in 1...3 {
        var next: [(JobLifecycle, [Event])] = []
        let time = now + .seconds(7) * step
        for (job, path) in level {
          for event in Self.events {
            var changed = job
            let isOver = job.state.isEnded || job.isSuperseded
            let actions = changed.receive(event, at: time)
            if let problem = problem(changed, actions, isOver: isOver) {
              Issue.record("\(problem) After \(path + [event]) of \(record.state).")
              return
            }
            if seen.insert(changed).inserted { next.append((changed, path + [event])) }
          }
        }
        level = next
      }
    }
    #expect(seen.count > 1_000)
  }

  @Test("jobs of random processes end when they are stopped, complete each command once and never have two processes")
  func random() {
    for seed in 0..<300 {
      var random = SeededGenerator(seed: UInt64(seed))
      func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
      func time(_ limit: Int) -> Duration { .milliseconds(Int.random(in: 1...limit, using: &random)) }
      let behaviours = (0..<8).map { _ in
        SimulatedJob.Behaviour(
          crashesAfter: chance(3) ? time(90_000) : nil, hangsAfter: chance(4) ? time(60_000) : nil,
          survivesAbort: chance(2), joinsAfter: chance(6) ? nil : time(3_000),
          endsAfter: chance(5) ? time(90_000) : nil, endReason: JobEndReason.allCases.randomElement(using: &random)!,
          cannotStart: chance(8), rejectsChanges: chance(6))
      }
      let living = Self.records.filter { !$0.state.isEnded && $0.attemptStartedAt == nil && !$0.isClaimed }
      let record = living.randomElement(using: &random)!
      let free = time(40_000)
      var simulation = SimulatedJob(record, behaviours: behaviours, hasCapacity: { $0 - SimulatedJob.origin > free })
      simulation.databaseDelay = time(2_000)
      simulation.storingFails = Int.random(in: 0...2, using: &random)
      var commands: Int64 = 0
      for _ in 0..<12 {
        commands += 1
        let kinds: [JobLifecycle.PauseChange.Kind] = [.pause(nil), .resume(nil), .pause(["anna"]), .resume(["anna"])]
        simulation.at(time(120_000), .changePause(kinds.randomElement(using: &random)!, command: commands))
      }
      if chance(4) { simulation.at(time(120_000), .drain) }
      simulation.at(.seconds(130), .stop(command: 1_000))
      simulation.at(.seconds(131), .stop(command: 1_001))
      simulation.run(until: .seconds(600))
      let isWell =
        simulation.problems == [] && simulation.end != nil && simulation.process == nil
        && simulation.completions.count == Int(commands) + 2
      if !isWell {
        Issue.record(
          "Seed \(seed): \(simulation.problems), \(simulation.job.phase), \(simulation.completions.count) completed.")
        return
      }
    }
  }
}
