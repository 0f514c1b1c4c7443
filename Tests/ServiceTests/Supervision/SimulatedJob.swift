import JobProtocol
import Media
import SQLStore
import Service
import TestSupport

/// A job with a process, a database and a store that exist only in memory, on a clock that the test advances.
struct SimulatedJob {
  /// What its processes do.
  struct Behaviour {
    /// After how long the process dies without a word; nil: never.
    var crashesAfter: Duration?
    /// After how long it stops answering; nil: never.
    var hangsAfter: Duration?
    /// Whether SIGABRT does nothing.
    var survivesAbort = false
    var joinsAfter: Duration? = .milliseconds(300)
    /// After how long it ends by itself, and why.
    var endsAfter: Duration?
    var endReason = JobEndReason.empty
    var cannotStart = false
    var rejectsChanges = false
    /// Whether it answers, but neither pauses nor resumes.
    var ignoresChanges = false
    /// Who is paused after any change, if it knows further names.
    var pausesAs: PauseState?
  }

  struct Process {
    var number: Int
    var behaviour: Behaviour
    var startedAt: MonotonicInstant
    var pause: PauseState
    var isConnected = false
    var isStopping = false
  }

  enum Step {
    case event(JobLifecycle.Event)
    /// The turn of a process, by its number.
    case turn(Int)
    case dies(Int, how: String)
    case confirms(Int, JobLifecycle.PauseChange.Kind, Int64)
  }

  static let origin = MonotonicInstant(sinceOrigin: .seconds(1_000))

  var job: JobLifecycle
  var now = Self.origin
  var behaviours: [Behaviour]
  var process: Process?
  var steps: [(at: MonotonicInstant, order: Int, step: Step)] = []
  var hasCapacity: (MonotonicInstant) -> Bool = { _ in true }
  var storingFails = 0
  var databaseDelay = Duration.milliseconds(5)

  // What was seen.
  var actions: [JobLifecycle.Action] = []
  var states: [JobState] = []
  var startTimes: [MonotonicInstant] = []
  var startPauses: [PauseState] = []
  var signals: [(EndingSignal, MonotonicInstant)] = []
  var completions: [Int64: JobLifecycle.CommandOutcome] = [:]
  var end: (state: JobState, end: JobLifecycle.End, at: MonotonicInstant)?
  var notedPause: PauseState
  var problems: [String] = []
  private var aliveOrIdleAt = Self.origin
  private var order = 0
  private var processes = 0

  init(
    _ record: JobLifecycle.Record = JobLifecycle.Record(.starting), behaviours: [Behaviour] = [Behaviour()],
    hasCapacity: @escaping (MonotonicInstant) -> Bool = { _ in true }
  ) {
    self.behaviours = behaviours
    self.hasCapacity = hasCapacity
    notedPause = record.pause
    let first: [JobLifecycle.Action]
    (job, first) = JobLifecycle.begin(record, at: now)
    perform(first)
  }

  mutating func after(_ delay: Duration, _ step: Step) {
    order += 1
    steps.append((now + delay, order, step))
  }

  mutating func at(_ delay: Duration, _ event: JobLifecycle.Event) {
    order += 1
    steps.append((Self.origin + delay, order, .event(event)))
  }

  mutating func receive(_ event: JobLifecycle.Event) { perform(job.receive(event, at: now)) }

  /// Runs until nothing happens any more, or until a time after the beginning.
  mutating func run(until limit: Duration) {
    let end = Self.origin + limit
    while true {
      let next = steps.min { ($0.at, $0.order) < ($1.at, $1.order) }
      let times = [next?.at, job.deadline].compactMap(\.self)
      guard let time = times.min(), time <= end else { break }
      now = max(now, time)
      checkLiveness()
      if let next, next.at <= now {
        steps.removeAll { $0.order == next.order }
        perform(next.step)
      } else {
        receive(.time)
      }
      if job.state == .starting || job.state == .running || job.state == .stopping {
        if process != nil { aliveOrIdleAt = now }
      } else {
        aliveOrIdleAt = now
      }
    }
    now = max(now, end)
    checkLiveness()
  }

  private mutating func checkLiveness() {
    switch job.state {
    case .starting, .running, .stopping:
      if process == nil, now - aliveOrIdleAt > .seconds(60) {
        problems.append("\(job.state) without a process for \(now - aliveOrIdleAt)")
      }
    default: break
    }
  }

  private mutating func perform(_ step: Step) {
    switch step {
    case .event(let event): receive(event)
    case .turn(let number): turn(number)
    case .dies(let number, let how):
      guard process?.number == number else { return }
      process = nil
      receive(.processDied(how: how))
    case .confirms(let number, let kind, let command):
      guard let process, process.number == number, isAnswering(process) else { return }
      if process.behaviour.ignoresChanges { return }
      if process.behaviour.rejectsChanges { return receive(.changeRejected(command: command, sentence: "No.")) }
      switch kind {
      case .pause(let users): self.process?.pause.pause(users)
      case .resume(let users): self.process?.pause.resume(users)
      }
      // It may know them by further names.
      let paused = process.behaviour.pausesAs ?? self.process?.pause
      receive(.changeConfirmed(command: command, effectiveAt: 1, paused: paused))
    }
  }

  private func isAnswering(_ process: Process) -> Bool {
    process.behaviour.hangsAfter.map { now - process.startedAt < $0 } ?? true
  }

  /// What a process does ten times a second.
  private mutating func turn(_ number: Int) {
    guard var process, process.number == number else { return }
    let age = now - process.startedAt
    if let limit = process.behaviour.crashesAfter, age >= limit {
      return perform(.dies(number, how: "was ended by signal 11 (SIGSEGV)"))
    }
    guard isAnswering(process) else { return after(.milliseconds(100), .turn(number)) }
    if process.isStopping || process.behaviour.endsAfter.map({ age >= $0 }) ?? false {
      let reason = process.isStopping ? JobEndReason.stopped : process.behaviour.endReason
      receive(.ended(JobLifecycle.End(reason, "It ended.")))
      return perform(.dies(number, how: "ended with exit code 0"))
    }
    let isNew = !process.isConnected
    process.isConnected = true
    self.process = process
    if isNew { receive(.connected) }
    if let joins = process.behaviour.joinsAfter, age >= joins, age < joins + .milliseconds(100) { receive(.joined) }
    receive(.answered)
    after(.milliseconds(100), .turn(number))
  }

  private mutating func perform(_ new: [JobLifecycle.Action]) {
    if states.last != job.state { states.append(job.state) }
    for action in new {
      actions.append(action)
      if end != nil, case .complete = action {} else if end != nil { problems.append("\(action) after the end") }
      perform(action)
    }
  }

  private mutating func perform(_ action: JobLifecycle.Action) {
    switch action {
    case .askForCapacity:
      after(.milliseconds(1), .event(.capacity(granted: hasCapacity(now), sentence: "The memory is used.")))
    case .noteAttempt: after(databaseDelay, .event(.attemptNoted))
    case .startProcess(let pause): start(pause)
    case .notePause(let state):
      notedPause = state
      after(databaseDelay, .event(.pauseNoted))
    case .keepPause(let state): notedPause = state
    case .sendChange(let kind, let command):
      guard let process, process.isConnected else { return problems.append("A change is sent to nobody.") }
      after(.milliseconds(20), .confirms(process.number, kind, command))
    case .sendStop:
      guard process?.isConnected == true else { return problems.append("A stop is sent to nobody.") }
      process?.isStopping = true
    case .signal(let signal):
      signals.append((signal, now))
      guard let process else { return problems.append("A signal is sent to nobody.") }
      switch signal {
      case .terminate: self.process?.isStopping = true
      case .abort where process.behaviour.survivesAbort: break
      case .abort: after(.milliseconds(10), .dies(process.number, how: "was ended by signal 6 (SIGABRT)"))
      case .kill: after(.milliseconds(10), .dies(process.number, how: "was ended by signal 9 (SIGKILL)"))
      }
    case .store:
      storingFails -= 1
      after(.milliseconds(50), .event(storingFails >= 0 ? .storingFailed : .stored))
    case .finish(let state, let end): self.end = (state, end, now)
    case .complete(let command, let outcome):
      if completions[command] != nil { problems.append("The command \(command) is completed twice.") }
      completions[command] = outcome
    case .noteQueued, .noteRunning, .noteStopping, .noteStalled, .noteAttemptEnded, .abandon: break
    }
  }

  private mutating func start(_ pause: PauseState) {
    if process != nil { problems.append("Two processes at once.") }
    if pause != notedPause, job.change == nil {
      problems.append("A process begins with another pause than is written.")
    }
    processes += 1
    let behaviour = behaviours[min(processes, behaviours.count) - 1]
    startTimes.append(now)
    startPauses.append(pause)
    if behaviour.cannotStart {
      return after(.zero, .event(.processNotStarted(sentence: "There is no such program.")))
    }
    process = Process(number: processes, behaviour: behaviour, startedAt: now, pause: pause)
    after(.zero, .event(.processStarted))
    after(.milliseconds(100), .turn(processes))
  }
}
