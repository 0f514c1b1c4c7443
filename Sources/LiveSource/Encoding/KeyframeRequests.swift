/// Combines the keyframe requests of viewers: a keyframe soon after a request, and never two within half a second.
///
/// A request right after a keyframe is kept and answered as soon as the minimum interval allows, because the sender of
/// the request may have lost that very keyframe.
package struct KeyframeRequests: Sendable {
  /// The minimum interval between two keyframes.
  static let distance = Duration.milliseconds(500)
  /// The maximum delay of a keyframe after a request, or after the minimum interval; the rest of the promised 100 ms is
  /// for encoding and sending it.
  static let maximumDelay = Duration.milliseconds(80)

  private var asked: ContinuousClock.Instant?
  private var last: ContinuousClock.Instant?

  package init() {}

  /// Records a keyframe request.
  package mutating func request(now: ContinuousClock.Instant) {
    if asked == nil { asked = now }
  }

  /// Records that a keyframe was encoded, for whatever reason. It answers all earlier requests.
  package mutating func keyframeMade(now: ContinuousClock.Instant) {
    last = now
    asked = nil
  }

  /// Whether a keyframe is allowed.
  package func allows(now: ContinuousClock.Instant) -> Bool {
    guard let last else { return true }
    return now - last >= Self.distance
  }

  /// Whether the next frame must be a keyframe. The first one always is.
  package func isDue(now: ContinuousClock.Instant) -> Bool {
    last == nil || (asked != nil && allows(now: now))
  }

  /// The earliest time for a requested keyframe; nil if none is requested.
  package var earliest: ContinuousClock.Instant? {
    guard let asked else { return nil }
    return last.map { max(asked, $0 + Self.distance) } ?? asked
  }

  /// The latest time for a requested keyframe; nil if none is requested.
  package var deadline: ContinuousClock.Instant? { earliest.map { $0 + Self.maximumDelay } }
}
