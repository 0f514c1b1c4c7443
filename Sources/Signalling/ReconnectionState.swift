package import Media

/// What a client does next to stay connected to its server: connect, deliver an event, wait or end. Pure.
///
/// ```
///                 connectionOpened
///   connecting ─────────────────────► connected
///     ▲    │ connectionEnded              │ connectionEnded
///     │    └────────────┐  ┌──────────────┘
///     │                 ▼  ▼
///     └── waiting ◄── reporting
/// ```
/// Only a connection that is `lost` is followed by another one. Every other end leads to `over`, and so does ``leave()`` from
/// every state; nothing leads out of it.
package struct ReconnectionState: Sendable {
  /// The waits between attempts.
  package struct Policy: Sendable, Hashable {
    /// The minimum and the maximum wait before the next attempt.
    package var minimumDelay: Duration
    package var maximumDelay: Duration
    /// The age of a connection from which on its end resets the backoff.
    package var resetAge: Duration

    package init(minimumDelay: Duration, maximumDelay: Duration, resetAge: Duration) {
      self.minimumDelay = minimumDelay
      self.maximumDelay = maximumDelay
      self.resetAge = resetAge
    }
  }

  /// What the owner does next.
  package enum Step: Sendable, Hashable {
    /// Connect, and report the result: ``connectionOpened(now:)`` or ``connectionEnded(_:now:)``.
    case connect
    case deliver(SignallingEvent)
    case wait(until: MonotonicInstant)
    /// Nothing more is tried.
    case end
  }

  /// The wait after a lost connection.
  package enum Delay: Sendable, Hashable {
    /// The next wait of the backoff, or a longer one that the server asks for.
    case backoff(atLeast: Duration = .zero)
    /// None, and the backoff does not grow.
    case none
  }

  /// How a connection, or an attempt to connect, ended.
  package enum ConnectionEnd: Error, Sendable, Hashable {
    /// The next attempt may succeed. `reason` is a sentence for ``SignallingEvent/connectionLost(reason:retryAfter:)``; nil
    /// if the owner reports the end by other events.
    case lost(reason: String?, delay: Delay = .backoff())
    /// The server rejects us, so that no further attempt makes sense.
    case rejected(reason: String)
    /// The signalling has ended and does not return.
    case closed(reason: String)
    /// Nothing more is tried, and nothing is left to report.
    case finished
  }

  private enum State: Sendable {
    case connecting
    case connected(since: MonotonicInstant)
    /// The loss is reported, if `event` is not nil; then the wait begins.
    case reporting(event: SignallingEvent?, delay: Duration)
    case waiting(since: MonotonicInstant, delay: Duration)
    /// The last event is delivered, if `event` is not nil.
    case over(event: SignallingEvent?)
  }

  private let policy: Policy
  private var state = State.connecting
  private var backoff: ReconnectBackoff
  private var generator: any RandomNumberGenerator & Sendable
  /// Whether a loss was reported since a connection was last opened.
  private var isLost = false
  /// Whether the next attempt shall follow after the minimum wait.
  private var isAttemptRequested = false

  /// Creates the state of a client whose first attempt to connect is in progress.
  ///
  /// - Parameter generator: gives the jitter of the waits.
  package init(
    _ policy: Policy, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.policy = policy
    self.generator = generator
    backoff = ReconnectBackoff(minimum: policy.minimumDelay, maximum: policy.maximumDelay)
  }

  // MARK: What happened

  /// An attempt to connect succeeded.
  ///
  /// - Returns: whether a loss was reported before, so that we have joined again.
  @discardableResult
  package mutating func connectionOpened(now: MonotonicInstant) -> Bool {
    if case .over = state { return false }
    state = .connected(since: now)
    isAttemptRequested = false
    defer { isLost = false }
    return isLost
  }

  /// A connection, or an attempt to connect, ended.
  package mutating func connectionEnded(_ end: ConnectionEnd, now: MonotonicInstant) {
    if case .over = state { return }
    if case .connected(let start) = state, now - start >= policy.resetAge { backoff.reset() }
    switch end {
    case .lost(let reason, let delay):
      let wait =
        switch delay {
        case .backoff(let minimum): max(nextDelay(), minimum)
        case .none: Duration.zero
        }
      if reason != nil { isLost = true }
      state = .reporting(event: reason.map { .connectionLost(reason: $0, retryAfter: wait) }, delay: wait)
    case .rejected(let reason): state = .over(event: .rejected(reason: reason))
    case .closed(let reason): state = .over(event: .closed(reason: reason))
    case .finished: state = .over(event: nil)
    }
  }

  /// The owner connects again although the connection was not lost. Its age no longer counts.
  package mutating func connectionReplaced() {
    if case .connected = state { state = .connecting }
  }

  /// The owner wants to be connected soon: a present or the next wait ends after the minimum, which also resets the backoff.
  /// While a connection is open, the request has no effect.
  ///
  /// Participants can cause such requests, but no more attempts than one in the minimum wait.
  package mutating func attemptRequested() {
    switch state {
    case .connecting, .reporting, .waiting: isAttemptRequested = true
    case .connected, .over: break
    }
  }

  /// The owner leaves.
  package mutating func leave() { state = .over(event: nil) }

  // MARK: What follows

  /// The end of the present wait.
  package var deadline: MonotonicInstant? {
    guard case .waiting(let start, let delay) = state else { return nil }
    return start + (isAttemptRequested ? min(delay, policy.minimumDelay) : delay)
  }

  /// Returns what to do next; nil while a connection is open. An event is returned once, and the wait, which may take no time,
  /// begins with the call after it.
  package mutating func next(now: MonotonicInstant) -> Step? {
    switch state {
    case .connecting: return .connect
    case .connected: return nil
    case .reporting(let event?, let delay):
      state = .reporting(event: nil, delay: delay)
      return .deliver(event)
    case .reporting(nil, let delay):
      state = .waiting(since: now, delay: delay)
      return .wait(until: deadline ?? now)
    case .waiting:
      if let deadline, deadline > now { return .wait(until: deadline) }
      if isAttemptRequested { backoff.reset() }
      isAttemptRequested = false
      state = .connecting
      return .connect
    case .over(let event?):
      state = .over(event: nil)
      return .deliver(event)
    case .over(nil): return .end
    }
  }

  private mutating func nextDelay() -> Duration {
    var generator = self.generator
    defer { self.generator = generator }
    return backoff.next(using: &generator)
  }
}
