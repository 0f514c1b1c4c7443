internal import Synchronization

/// The progress of work on a terminal: text lines that are overwritten, a few times a second at most. Without a terminal it shows nothing.
package final class ProgressDisplay<Stage: Hashable & Sendable>: Sendable {
  private struct State {
    var stage: Stage?
    var begun = ContinuousClock.now
    var shown: ContinuousClock.Instant?
    var isStopped = false
  }

  private let console: Console
  private let interval: Duration
  private let state = Mutex(State())

  /// - Parameter interval: The least time between two updates of a stage.
  package init(console: Console, interval: Duration = .milliseconds(250)) {
    (self.console, self.interval) = (console, interval)
  }

  /// Shows how far the work is, unless that was shown just now. A new stage is shown at once.
  ///
  /// - Parameter lines: Makes the text lines from the time since the stage began.
  package func show(_ stage: Stage, _ lines: (_ elapsed: Duration) -> [String]) {
    guard console.isTerminal, let elapsed = elapsed(of: stage, at: .now) else { return }
    console.show(lines: lines(elapsed))
  }

  /// The time since a stage began, if its progress is to be shown at a moment.
  func elapsed(of stage: Stage, at now: ContinuousClock.Instant) -> Duration? {
    state.withLock { state in
      if state.isStopped { return nil }
      if state.stage != stage { (state.stage, state.begun, state.shown) = (stage, now, nil) }
      if let shown = state.shown, now - shown < interval { return nil }
      state.shown = now
      return now - state.begun
    }
  }

  /// Shows nothing any more.
  package func stop() {
    state.withLock { $0.isStopped = true }
    console.clearStatus()
  }
}
