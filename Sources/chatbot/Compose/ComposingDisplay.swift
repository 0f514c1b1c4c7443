import Composer
import Console
import Synchronization

/// The status line of a composition, on a terminal.
final class ComposingDisplay: Sendable {
  private struct State {
    var stage: CompositionProgress.Stage?
    var begun = ContinuousClock.now
    var shown: ContinuousClock.Instant?
    var isStopped = false
  }

  private let console: Console
  private let state = Mutex(State())

  /// The interval of updates.
  private static let interval = Duration.milliseconds(250)

  init(console: Console) { self.console = console }

  func show(_ progress: CompositionProgress) {
    guard console.isTerminal else { return }
    let now = ContinuousClock.now
    let elapsed: Duration? = state.withLock { state in
      if state.isStopped { return nil }
      if state.stage != progress.stage { (state.stage, state.begun, state.shown) = (progress.stage, now, nil) }
      if let shown = state.shown, now - shown < Self.interval { return nil }
      state.shown = now
      return now - state.begun
    }
    if let elapsed { console.show(lines: [progress.line(elapsed: elapsed)]) }
  }

  /// Shows nothing any more.
  func stop() {
    state.withLock { $0.isStopped = true }
    console.clearStatus()
  }
}
