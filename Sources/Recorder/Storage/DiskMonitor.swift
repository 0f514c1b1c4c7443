import Synchronization

/// Whether frames wait because of the disk: because it fails, or because a call into it takes long or took long lately. If not, it
/// is this machine that has no time.
///
/// Times are those that come with frames.
final class DiskMonitor: Sendable {
  /// How long a call takes at least that is called slow.
  static let slowCall = Duration.milliseconds(200)
  /// For how long a slow call is remembered.
  static let memory = Duration.seconds(5)

  private struct State {
    var callBegan: ContinuousClock.Instant?
    var slowUntil: ContinuousClock.Instant?
    var isFailing = false
  }

  private let state = Mutex(State())

  func callBegan(at now: ContinuousClock.Instant) { state.withLock { $0.callBegan = now } }

  func callEnded(at now: ContinuousClock.Instant) {
    state.withLock { state in
      guard let began = state.callBegan else { return }
      state.callBegan = nil
      if now - began >= Self.slowCall { state.slowUntil = now + Self.memory }
    }
  }

  /// Some file could not be written, or all of them can be again.
  func setFailing(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

  /// Whether it is the disk that frames wait for.
  func isCause(at now: ContinuousClock.Instant) -> Bool {
    state.withLock { state in
      if state.isFailing { return true }
      if let began = state.callBegan, now - began >= Self.slowCall { return true }
      return state.slowUntil.map { now < $0 } ?? false
    }
  }
}
