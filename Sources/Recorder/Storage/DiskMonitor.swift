import Glibc
import Media
import Synchronization

/// Whether frames wait because of the disk: because it fails, because a call into it takes long or took long lately, or because
/// most of the time is spent in such calls. If not, it is this machine that has no time.
///
/// Times are those that come with frames.
final class DiskMonitor: Sendable {
  /// How long a call takes at least that is called slow.
  static let slowCall = Duration.milliseconds(200)
  /// For how long a slow call is remembered.
  static let memory = Duration.seconds(5)
  /// The share of the time in calls from which on the disk is slow though each of them is short. On a machine without time the
  /// thread waits between calls as well as within them.
  static let slowShare = 0.75
  /// How long calls take on average for that: shorter ones are this machine's own work.
  static let slowAverage = Duration.milliseconds(2)
  /// Over which time the share is averaged, with exponentially falling weight.
  static let averagingTime = Duration.seconds(2)

  private struct State {
    var callBegan: MonotonicInstant?
    var slowUntil: MonotonicInstant?
    var isFailing = false
    /// The share of the time that was spent in calls, 0 to 1, as of the end of the last call.
    var share = 0.0
    var shareTime: MonotonicInstant?
    /// How long a call takes, of the last ones.
    var average = Duration.zero

    /// The share at a time, with what has passed since counted as spent in a call or outside.
    func share(at now: MonotonicInstant, isInCall: Bool) -> Double {
      guard let shareTime, now > shareTime else { return share }
      let weight = exp(-((now - shareTime) / DiskMonitor.averagingTime))
      return share * weight + (isInCall ? 1 - weight : 0)
    }

    mutating func pass(until now: MonotonicInstant, isInCall: Bool) {
      share = share(at: now, isInCall: isInCall)
      shareTime = max(shareTime ?? now, now)
    }
  }

  private let state = Mutex(State())

  func callBegan(at now: MonotonicInstant) {
    state.withLock { state in
      state.pass(until: now, isInCall: false)
      state.callBegan = now
    }
  }

  func callEnded(at now: MonotonicInstant) {
    state.withLock { state in
      guard let began = state.callBegan else { return }
      state.callBegan = nil
      state.pass(until: now, isInCall: true)
      state.average += (now - began - state.average) * 0.1
      if now - began >= Self.slowCall { state.slowUntil = now + Self.memory }
    }
  }

  /// Some file could not be written, or all of them can be again.
  func setFailing(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

  /// Whether it is the disk that frames wait for.
  func isCause(at now: MonotonicInstant) -> Bool {
    state.withLock { state in
      if state.isFailing { return true }
      if let began = state.callBegan, now - began >= Self.slowCall { return true }
      let share = state.share(at: now, isInCall: state.callBegan != nil)
      if share >= Self.slowShare, state.average >= Self.slowAverage { return true }
      return state.slowUntil.map { now < $0 } ?? false
    }
  }
}
