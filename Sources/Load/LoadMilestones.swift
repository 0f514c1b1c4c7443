internal import Synchronization

/// The times of the first and the last publisher's start, and the bytes sent until then. The steady part of a load begins
/// with the last publisher.
package final class LoadMilestones: Sendable {
  private struct State {
    var last: ContinuousClock.Instant?
    var bytesSent: UInt64 = 0
  }

  private let begun: ContinuousClock.Instant
  private let state = Mutex(State())
  private let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation

  package init(now: ContinuousClock.Instant) {
    begun = now
    (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Records that the last publisher has started.
  package func last(bytesSent: UInt64, now: ContinuousClock.Instant) {
    state.withLock { state in
      state.last = now
      state.bytesSent = bytesSent
    }
    arrival.yield()
    arrival.finish()
  }

  /// Waits for the last publisher; for one caller only.
  package func lastPublisherStarted() async {
    for await _ in arrivals { return }
  }

  /// The duration of the steady part, and the bytes sent before it; the whole load while publishers are still starting.
  package func steady(now: ContinuousClock.Instant) -> (seconds: Double, bytesBefore: UInt64) {
    state.withLock { state in
      ((now - (state.last ?? begun)) / .seconds(1), state.bytesSent)
    }
  }
}
