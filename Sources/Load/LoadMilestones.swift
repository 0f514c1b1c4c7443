internal import Synchronization

/// The times of the first and the last participant's start, and what was sent and received until then. The steady part of a load
/// begins with the last participant.
package final class LoadMilestones: Sendable {
  private struct State {
    var last: ContinuousClock.Instant?
    var totals: [ParticipantRecord.Totals] = []
  }

  private let begun: ContinuousClock.Instant
  private let state = Mutex(State())
  private let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation

  package init(now: ContinuousClock.Instant) {
    begun = now
    (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// Records that the last participant has started.
  ///
  /// - Parameter totals: The counters of each participant.
  package func last(totals: [ParticipantRecord.Totals], now: ContinuousClock.Instant) {
    state.withLock { state in
      state.last = now
      state.totals = totals
    }
    arrival.yield()
    arrival.finish()
  }

  /// Waits for the last participant; for one caller only.
  package func lastStarted() async {
    for await _ in arrivals { return }
  }

  /// The duration of the steady part, and the counters of each participant before it; the whole load, and no counters, while
  /// participants are still starting.
  package func steady(
    now: ContinuousClock.Instant
  ) -> (seconds: Double, before: [ParticipantRecord.Totals]) {
    state.withLock { state in
      ((now - (state.last ?? begun)) / .seconds(1), state.totals)
    }
  }
}
