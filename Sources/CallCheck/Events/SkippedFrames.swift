package import Media

/// Frames of a peer that came and were not looked at, because anyone who feeds the judge did not keep up with decoding. They are those
/// from one on to the next keyframe, so that what is decoded is never broken.
public struct SkippedFrames: Sendable, Hashable {
  public var count: Int
  public var keyframes: Int
  /// Bytes of VP8 in them.
  public var bytes: Int
  /// When the first and the last of them came.
  public var first: ContinuousClock.Instant
  public var last: ContinuousClock.Instant

  /// - Returns: nil if nothing was dropped.
  package init?(_ dropped: DroppedFrameRun) {
    guard let first = dropped.firstArrival, let last = dropped.lastArrival else { return nil }
    count = dropped.count
    keyframes = dropped.keyframes
    bytes = dropped.bytes
    self.first = first.instant
    self.last = last.instant
  }

  /// One frame.
  public init(bytes: Int, isKeyframe: Bool, arrival: ContinuousClock.Instant) {
    count = 1
    keyframes = isKeyframe ? 1 : 0
    self.bytes = bytes
    first = arrival
    last = arrival
  }

  /// Adds those that came next.
  public mutating func add(_ next: SkippedFrames) {
    count += next.count
    keyframes += next.keyframes
    bytes += next.bytes
    first = min(first, next.first)
    last = max(last, next.last)
  }
}
