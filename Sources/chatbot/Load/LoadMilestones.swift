import Synchronization

/// When the first and the last publisher came, and what had been sent by then: the steady part of a load begins with the last.
final class LoadMilestones: Sendable {
  private struct State {
    var last: ContinuousClock.Instant?
    var bytesSent: UInt64 = 0
  }

  private let begun: ContinuousClock.Instant
  private let state = Mutex(State())
  private let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation

  init(now: ContinuousClock.Instant) {
    begun = now
    (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// The last publisher has come.
  func last(bytesSent: UInt64, now: ContinuousClock.Instant) {
    state.withLock { state in
      state.last = now
      state.bytesSent = bytesSent
    }
    arrival.yield()
    arrival.finish()
  }

  /// Waits for the last publisher; for one caller.
  func lastCame() async {
    for await _ in arrivals { return }
  }

  /// How long the steady part has lasted, and what had been sent before it; of all that there was while publishers still come.
  func steady(now: ContinuousClock.Instant) -> (seconds: Double, bytesBefore: UInt64) {
    state.withLock { state in
      ((now - (state.last ?? begun)) / .seconds(1), state.bytesSent)
    }
  }
}
