import Media

/// The intervals in which a participant is paused, by the recorder's clock.
struct PauseIntervals: Sendable, Hashable {
  struct Interval: Sendable, Hashable {
    var start: MonotonicInstant
    /// Nil while it lasts.
    var end: MonotonicInstant?
  }

  /// A pause that begins so soon after another one continues that one, so that many short ones are few intervals.
  static let minimumDistance = Duration.milliseconds(200)
  /// How long after a pause frames of it may arrive.
  static let maximumDelay = StandstillDetector.maximumDelay + .seconds(1)

  /// In order; those that ended long ago are left out.
  private(set) var all: [Interval] = []

  var isPaused: Bool { all.last.map { $0.end == nil } ?? false }

  /// Whether a frame that arrived at a moment can be of a paused interval, or of the time before one.
  func concern(_ arrival: MonotonicInstant) -> Bool {
    guard let last = all.last else { return false }
    return last.end.map { arrival - $0 <= Self.maximumDelay } ?? true
  }

  /// Begins a pause, unless one lasts.
  mutating func pause(at now: MonotonicInstant) {
    if isPaused { return }
    all.removeAll { $0.end.map { now - $0 > Self.maximumDelay } ?? false }
    if let last = all.last?.end, now - last < Self.minimumDistance {
      all[all.count - 1].end = nil
    } else {
      all.append(Interval(start: now))
    }
  }

  /// Ends the pause, if one lasts.
  mutating func resume(at now: MonotonicInstant) {
    guard isPaused else { return }
    all[all.count - 1].end = max(now, all[all.count - 1].start)
  }
}
