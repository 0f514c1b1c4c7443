/// After how much a recording's next files begin. With both limits, whichever is reached first counts.
public struct SegmentLimit: Sendable, Hashable {
  /// How long a segment gets; the next keyframe after that begins the next one.
  public var duration: Duration?
  /// How many bytes its larger file gets.
  public var bytes: Int64?

  /// - Parameters:
  ///   - duration: above zero; nil for any length.
  ///   - bytes: above zero; nil for any size.
  public init(duration: Duration? = nil, bytes: Int64? = nil) {
    self.duration = duration
    self.bytes = bytes
  }

  func isReached(duration: Duration, bytes: Int64) -> Bool {
    if let limit = self.duration, duration >= limit { return true }
    if let limit = self.bytes, bytes >= limit { return true }
    return false
  }
}
