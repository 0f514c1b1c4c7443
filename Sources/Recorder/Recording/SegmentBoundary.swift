import Media

/// Decides where a recording's next files begin: at the first video keyframe after the limit was reached or, while no
/// video arrives, at an audio packet. Without a limit they begin only where a codec changes.
///
/// A segment is the part of a recording that is in one file of each kind, not the Matroska element of this name.
struct SegmentBoundary: Sendable {
  enum Decision: Sendable, Hashable {
    case goOn
    /// The next files could begin here, but a keyframe is missing.
    case askForKeyframe
    /// The next files begin with this frame.
    case cut
  }

  /// Video is considered paused after this time without a frame.
  static let pause = Duration.seconds(2)
  /// The interval of keyframe requests.
  static let requestInterval = Duration.milliseconds(500)

  private let limit: SegmentLimit?
  /// The number of the current segment, from 1.
  private(set) var number = 0
  private var start = Duration.zero
  private var lastVideoFrame: Duration?
  private var lastRequest: MonotonicInstant?

  init(limit: SegmentLimit?) {
    self.limit = limit
  }

  /// Whether files end at a limit.
  var isLimited: Bool { limit != nil }

  /// The number in the names of the current segment's files; nil for the first one if there is no limit, since it is usually the only
  /// one.
  var nameNumber: Int? { limit == nil && number <= 1 ? nil : number }

  /// Begins the next segment.
  mutating func begin(at position: Duration) {
    number += 1
    start = position
    lastRequest = nil
  }

  /// Leaves out the number of the segment that has just begun.
  mutating func skipNumber() { number += 1 }

  /// Decides whether the next files begin with a frame.
  ///
  /// - Parameters:
  ///   - bytes: the size of the segment's larger file.
  ///   - hasVideo: whether the segment has a file with video.
  ///   - isBehind: whether frames still go into a file of an earlier segment, or of another orientation.
  mutating func decide(
    before timestamped: TimestampedFrame, bytes: Int64, hasVideo: Bool, isBehind: Bool, now: MonotonicInstant
  ) -> Decision {
    let isVideo = timestamped.frame.codec.kind == .video
    let lastVideoFrame = self.lastVideoFrame ?? start
    if isVideo { self.lastVideoFrame = max(lastVideoFrame, timestamped.position) }
    guard let limit, limit.isReached(duration: timestamped.position - start, bytes: bytes) else {
      return isBehind && isVideo && !timestamped.frame.isKeyframe ? askForKeyframe(now: now) : .goOn
    }
    if isVideo && timestamped.frame.isKeyframe { return .cut }
    if !isVideo && (!hasVideo || timestamped.position - lastVideoFrame >= Self.pause) { return .cut }
    return askForKeyframe(now: now)
  }

  private mutating func askForKeyframe(now: MonotonicInstant) -> Decision {
    if let lastRequest, now - lastRequest < Self.requestInterval { return .goOn }
    lastRequest = now
    return .askForKeyframe
  }
}

/// The size at which a recording continues in new files. If both limits are set, the first one reached applies.
public struct SegmentLimit: Sendable, Hashable {
  /// The duration of a segment; the first keyframe after it begins the next one.
  public var duration: Duration?
  /// The size of its larger file in bytes.
  public var bytes: Int64?

  /// - Parameters:
  ///   - duration: above zero; nil for no limit.
  ///   - bytes: above zero; nil for no limit.
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
