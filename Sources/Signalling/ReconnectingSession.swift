package import Media
import Synchronization

/// Keeps a client connected: carries out what a ``ReconnectionState`` says, until the server rejects us or the owner leaves.
///
/// How systems differ is in the closures of ``run(from:connect:follow:deliver:)``: what a connection is, how it is opened and
/// used, and why it ended. A client whose requests are independent of each other, as those of WHIP are, has a
/// ``ReconnectionState`` in its own state machine instead.
package final class ReconnectingSession: Sendable {
  private struct Shared {
    var state: ReconnectionState
    /// The present wait.
    var sleeper: Task<Void, Never>?
  }

  private let shared: Mutex<Shared>
  private let now: @Sendable () -> MonotonicInstant
  private let sleep: @Sendable (Duration) async -> Void

  /// - Parameters:
  ///   - generator: gives the jitter of the waits.
  ///   - now: the clock.
  ///   - sleep: waits for a time, or until its task is cancelled. A time below zero is over at once.
  package init(
    _ policy: ReconnectionState.Policy,
    generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
    now: @escaping @Sendable () -> MonotonicInstant = { .now },
    sleep: @escaping @Sendable (Duration) async -> Void
  ) {
    shared = Mutex(Shared(state: ReconnectionState(policy, generator: generator)))
    self.now = now
    self.sleep = sleep
  }

  /// Uses the first connection and opens further ones. Returns when nothing more is tried; the cancellation of the task has
  /// the effect of ``leave()``. For one call.
  ///
  /// - Parameters:
  ///   - first: the connection that the owner opened.
  ///   - connect: opens a connection, or throws why it cannot.
  ///   - follow: uses a connection until it ends, and closes it. It is called for each connection, also for one that was
  ///     opened while the owner left.
  ///   - deliver: delivers what is to be reported: `connectionLost`, `rejected` and `closed`.
  package func run<Connection>(
    from first: Connection,
    connect: () async throws(ReconnectionState.ConnectionEnd) -> Connection,
    follow: (Connection) async -> ReconnectionState.ConnectionEnd,
    deliver: (SignallingEvent) async -> Void
  ) async {
    await use(first, follow)
    while let step = nextStep() {
      switch step {
      case .connect:
        do throws(ReconnectionState.ConnectionEnd) {
          let connection = try await connect()
          await use(connection, follow)
        } catch {
          connectionEnded(error)
        }
      case .deliver(let event): await deliver(event)
      case .wait(let deadline): await wait(until: deadline)
      case .end: return
      }
    }
  }

  /// Ends a present or the next wait after the minimum wait.
  package func shortenWait() {
    let sleeper = shared.withLock { shared in
      shared.state.attemptRequested()
      return shared.sleeper
    }
    sleeper?.cancel()
  }

  /// Connects no more, and ends a wait at once. An open connection is closed by its owner.
  package func leave() {
    let sleeper = shared.withLock { shared in
      shared.state.leave()
      return shared.sleeper
    }
    sleeper?.cancel()
  }

  private func use<Connection>(
    _ connection: Connection, _ follow: (Connection) async -> ReconnectionState.ConnectionEnd
  ) async {
    _ = shared.withLock { $0.state.connectionOpened(now: now()) }
    connectionEnded(await follow(connection))
  }

  private func connectionEnded(_ end: ReconnectionState.ConnectionEnd) {
    shared.withLock { $0.state.connectionEnded(end, now: now()) }
  }

  private func nextStep() -> ReconnectionState.Step? {
    shared.withLock { shared in
      if Task.isCancelled { shared.state.leave() }
      return shared.state.next(now: now())
    }
  }

  private func wait(until deadline: MonotonicInstant) async {
    let sleeper = Task { [sleep, now] in await sleep(deadline - now()) }
    // The wait may have become shorter meanwhile.
    let isNeeded = shared.withLock { shared in
      shared.sleeper = sleeper
      return shared.state.deadline == deadline
    }
    if !isNeeded { sleeper.cancel() }
    await withTaskCancellationHandler {
      await sleeper.value
    } onCancel: {
      sleeper.cancel()
    }
    shared.withLock { $0.sleeper = nil }
  }
}
