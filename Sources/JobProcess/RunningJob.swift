internal import BotPeer
package import Call
package import Console
internal import Glibc
internal import JSON
package import JobProtocol
package import Logging
internal import Media
internal import MediaWorker
package import Recorder
internal import Synchronization

/// A job while its process lives: what the program runs it with, and what the control socket asks of it.
package final class RunningJob: Sendable {
  struct State: Sendable {
    var phase = JobStatus.State.starting
    var call: RoomCall?
    var observer: JobObserver?
    /// Why the job is to end, once that was asked for.
    var end: JobResult?
    var hasJoined = false
    /// Why the call ends.
    var callEnd: RoomCall.EndReason?
    var paused: PauseState
    var counts = ReceivedCounts()
    var stalls = StallDetector()
    /// The statistics of the last second, for rates.
    var earlier: StatusSampler.Earlier?
    /// When the last snapshot of each user's stream was made.
    var snapshots: [String: MonotonicInstant] = [:]
    var services = 0
    /// Since when no service has been connected.
    var aloneSince: MonotonicInstant?
    /// Cancels the work, which ends a wait for the server.
    var cancel: (@Sendable () -> Void)?
  }

  package let specification: JobSpecification
  package let secrets: JobSecrets
  /// The long options of the command, without its name and without secrets.
  package let arguments: [String]
  /// Writes its log lines into the job's log.
  package let console: Console
  /// With the job and the attempt as fields of each line.
  package let log: Logger

  let version: String
  let journal: JobJournal
  let files: ClosedFiles
  let keyframes = LastKeyframes()
  let state: Mutex<State>
  /// Requests that change who is paused are carried out one after another.
  let pausing = SerialTasks()

  init(
    _ specification: JobSpecification, secrets: JobSecrets, arguments: [String], version: String, console: Console,
    log: Logger, journal: JobJournal, files: ClosedFiles
  ) {
    self.specification = specification
    self.secrets = secrets
    self.arguments = arguments
    self.version = version
    self.console = console
    self.log = log
    self.journal = journal
    self.files = files
    let paused =
      journal.past.paused ?? specification.paused
      ?? PauseState(all: specification.options["consent"] == "required")
    state = Mutex(State(paused: paused, aloneSince: .now))
  }

  // MARK: The call

  /// Who is paused when the call begins.
  package var paused: PausedUsers { PausedUsers(state.withLock(\.paused)) }

  /// Sets when a call ends, where that is not among the arguments.
  package func limit(_ settings: inout RoomCall.Settings) {
    settings.duration = specification.end.duration.map { .milliseconds($0) }
    settings.leaveWhenEmpty = specification.end.emptyFor.map { .milliseconds($0) }
    settings.leaveIfNobody = specification.end.nobodyWithin.map { .milliseconds($0) }
  }

  /// The observer that a call needs, which passes everything to another one, if there is one.
  package func observer(_ inner: (any RoomCallObserver)? = nil) -> any RoomCallObserver {
    let observer = JobObserver(
      inner, journal: journal, files: files, keyframes: keyframes,
      isPaused: { [weak self] in self?.isPaused($0) ?? true },
      hasJoined: { [weak self] in self?.joined() },
      leaves: { [weak self] reason in self?.state.withLock { $0.callEnd = reason } },
      finished: { [weak self] recording in self?.state.withLock { $0.counts.update(recording) } },
      isLost: { [weak self] problem in self?.end(JobResult(.diskFull, problem.sentence)) })
    state.withLock { $0.observer = observer }
    return observer
  }

  /// Takes the call, before it joins.
  package func began(_ call: RoomCall) {
    let (paused, end) = state.withLock { state in
      state.call = call
      if state.phase == .starting { state.phase = .joining }
      return (state.paused, state.end)
    }
    // Somebody may have been paused since the settings were made.
    if call.paused != PausedUsers(paused) { apply(paused, to: call) }
    if let end { call.leave(because: end.clause) }
  }

  private func joined() {
    state.withLock { state in
      state.hasJoined = true
      if state.phase != .leaving { state.phase = .joined }
    }
  }

  /// Ends the job in order. Only the first reason counts.
  func end(_ result: JobResult) {
    let (call, cancel) = state.withLock { state -> (RoomCall?, (@Sendable () -> Void)?) in
      if state.end != nil { return (nil, nil) }
      state.end = result
      state.phase = .leaving
      // The wait for a server is ended by a cancellation, the stay in a room by leaving it.
      return (state.call, state.hasJoined ? nil : state.cancel)
    }
    call?.leave(because: result.clause)
    cancel?()
  }

  /// Ends the job because of a signal.
  package func interrupt() { end(JobResult(.stopped, exitCode: 0, "A signal arrived.")) }

  /// The result of a call that is over.
  package func result(of outcome: RoomCall.Outcome) -> JobResult {
    let (hasJoined, end) = state.withLock { ($0.hasJoined, $0.end) }
    var result = JobResult(outcome, hasJoined: hasJoined)
    if let end, result.reason == .stopped {
      result.reason = end.reason
      if result.exitCode == 0 {
        result.exitCode = end.exitCode
        result.sentence = end.sentence
      }
    }
    return result
  }

  /// The result of a check that is over.
  package func result(_ sentence: String, exitCode: Int32 = 0) -> JobResult {
    let (end, callEnd, hasJoined) = state.withLock { ($0.end, $0.callEnd, $0.hasJoined) }
    let reason = end?.reason ?? callEnd.map { JobResult($0, hasJoined: hasJoined).reason } ?? .duration
    return JobResult(reason, exitCode: exitCode, sentence)
  }

  /// Notes a problem of the job.
  package func note(_ sentence: String) { journal.append(.problem(user: nil, sentence: sentence)) }

  /// Whether nothing of a user is stored.
  func isPaused(_ user: ParticipantID) -> Bool {
    let (call, observer, paused) = state.withLock { ($0.call, $0.observer, $0.paused) }
    guard specification.kind == .record else { return false }
    guard let call else { return PausedUsers(paused).contains(user.text, name: observer?.name(of: user)) }
    return call.isPaused(user) || call.paused.contains(user.text, name: call.name(of: user))
  }
}
