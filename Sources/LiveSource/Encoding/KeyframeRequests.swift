/// Joins what viewers request: a keyframe soon after a request, and never two within half a second.
///
/// A request that comes right after a keyframe is kept and answered as soon as the distance allows, because anyone who asks
/// may have lost that very keyframe.
struct KeyframeRequests: Sendable {
  /// The shortest time between two keyframes.
  static let distance = Duration.milliseconds(500)
  /// How soon after a request, or after the distance is over, a keyframe must have been made; what is left of the promised
  /// 100 ms is for making and sending it.
  static let patience = Duration.milliseconds(80)

  private var asked: ContinuousClock.Instant?
  private var last: ContinuousClock.Instant?

  /// Somebody needs a keyframe.
  mutating func request(now: ContinuousClock.Instant) {
    if asked == nil { asked = now }
  }

  /// A keyframe was made, for whatever reason. It answers every request before it.
  mutating func keyframeMade(now: ContinuousClock.Instant) {
    last = now
    asked = nil
  }

  /// Whether a keyframe may be made.
  func allows(now: ContinuousClock.Instant) -> Bool {
    guard let last else { return true }
    return now - last >= Self.distance
  }

  /// Whether the next frame is to be a keyframe. The first one is.
  func isDue(now: ContinuousClock.Instant) -> Bool {
    last == nil || (asked != nil && allows(now: now))
  }

  /// The earliest time for the keyframe that was requested; nil when none was.
  var earliest: ContinuousClock.Instant? {
    guard let asked else { return nil }
    return last.map { max(asked, $0 + Self.distance) } ?? asked
  }

  /// The latest time for the keyframe that was requested; nil when none was.
  var deadline: ContinuousClock.Instant? { earliest.map { $0 + Self.patience } }
}
