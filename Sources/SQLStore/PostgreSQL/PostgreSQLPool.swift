internal import Media

/// What the workers of a ``PostgreSQLConnection`` share: what waits, and what is known of an outage.
final class PostgreSQLPool: Sendable {
  typealias Work = @Sendable (PostgreSQLWorker) -> Void

  private struct State {
    var waiting: [Work] = []
    var isClosed = false
    /// The threads that run.
    var workers = 0
    var onEnd: [@Sendable () -> Void] = []
    var outage: Outage?
    /// Grows when a connection is lost: those that were made before it are made again.
    var generation = 0
  }

  private struct Outage {
    let since: MonotonicInstant
    var nextTry: MonotonicInstant
    var delay: Duration
    var error: SQLError
  }

  /// What a worker does that needs a connection.
  enum Turn {
    case connect(generation: Int)
    case wait(Duration)
    case fail(SQLError)
  }

  let settings: PostgreSQLSettings
  private let state = Monitor(State())

  private static let firstDelay = Duration.milliseconds(100)
  private static let longestDelay = Duration.seconds(5)

  init(_ settings: PostgreSQLSettings) { self.settings = settings }

  func start() {
    for _ in 0..<settings.connections {
      state.withLock { $0.workers += 1 }
      if !DedicatedThread.start("database", { [self] in run() }) {
        let remaining = state.withLock { state in
          state.workers -= 1
          return state.workers
        }
        // A pool without a thread accepts nothing; one with fewer threads works.
        if remaining == 0 { close {} }
        return
      }
    }
  }

  private func run() {
    let worker = PostgreSQLWorker(self)
    while true {
      let work: Work?? = state.wait { state in
        if !state.waiting.isEmpty { return .some(state.waiting.removeFirst()) }
        return state.isClosed ? .some(nil) : nil
      }
      guard let work = work ?? nil else { break }
      work(worker)
    }
    worker.disconnect()
    let ends = state.withLock { state -> [@Sendable () -> Void] in
      state.workers -= 1
      guard state.workers == 0 else { return [] }
      defer { state.onEnd = [] }
      return state.onEnd
    }
    for end in ends { end() }
  }

  /// - Returns: false if the pool is closed.
  func append(_ work: @escaping Work) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.waiting.append(work)
      return true
    }
  }

  /// - Parameter onEnd: called when all that waited was done and the connections are closed.
  func close(_ onEnd: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLock { state in
      state.isClosed = true
      if state.workers > 0 { state.onEnd.append(onEnd) }
      return state.workers == 0
    }
    if hasEnded { onEnd() }
  }

  // MARK: Outages

  var generation: Int { state.withLock { $0.generation } }

  /// Why there is no connection; nil if that is not known.
  var problem: SQLError? { state.withLock { $0.outage?.error } }

  /// What a worker without a connection does whose caller waits until `deadline`. After an attempt failed, one worker at a time
  /// tries again.
  func turn(until deadline: MonotonicInstant, _ now: MonotonicInstant) -> Turn {
    state.withLock { state in
      guard var outage = state.outage else { return .connect(generation: state.generation) }
      if now >= outage.nextTry {
        outage.nextTry = now + outage.delay
        state.outage = outage
        return .connect(generation: state.generation)
      }
      let isLong = now - outage.since > settings.limits.patience
      if state.isClosed || isLong || outage.nextTry >= deadline { return .fail(outage.error) }
      return .wait(outage.nextTry - now)
    }
  }

  /// Waits, but not after the end of an outage.
  func wait(_ time: Duration) {
    _ = state.wait(atMost: time) { $0.outage == nil || $0.isClosed ? true : nil }
  }

  func connected() { state.withLock { $0.outage = nil } }

  func connectionFailed(_ error: SQLError, _ now: MonotonicInstant) {
    state.withLock { state in
      let before = state.outage?.delay
      let delay = before.map { min($0 * 2, Self.longestDelay) } ?? Self.firstDelay
      state.outage = Outage(
        since: state.outage?.since ?? now, nextTry: now + delay * Double.random(in: 0.75...1.25), delay: delay,
        error: error)
    }
  }

  func connectionLost(_ generation: Int) {
    state.withLock { if $0.generation == generation { $0.generation += 1 } }
  }
}
