import Media

/// Says where a recording's next files begin: at the first video keyframe after the limit was reached, or, while no frame
/// comes, at an audio packet.
struct SegmentBoundary: Sendable {
  enum Decision: Sendable, Hashable {
    case goOn
    /// The next frames could go into the next files, and only a keyframe is missing.
    case askForKeyframe
    /// The next files begin with the frame.
    case cut
  }

  /// After how long without a frame video is taken to be paused.
  static let pause = Duration.seconds(2)
  /// How often a keyframe is requested.
  static let requestInterval = Duration.milliseconds(500)

  private let limit: SegmentLimit
  /// Which segment it is, from 1.
  private(set) var number = 0
  private var start = Duration.zero
  private var lastVideoFrame: Duration?
  private var lastRequest: MonotonicInstant?

  init(limit: SegmentLimit) {
    self.limit = limit
  }

  /// The next segment begins.
  mutating func begin(at position: Duration) {
    number += 1
    start = position
    lastRequest = nil
  }

  /// - Parameters:
  ///   - bytes: how large the segment's larger file is.
  ///   - hasVideo: whether the segment has a file with video.
  ///   - isBehind: whether frames still go into a file of an earlier segment.
  mutating func decide(
    before timestamped: TimestampedFrame, bytes: Int64, hasVideo: Bool, isBehind: Bool, now: MonotonicInstant
  ) -> Decision {
    let isVideo = timestamped.frame.codec.kind == .video
    let lastVideoFrame = self.lastVideoFrame ?? start
    if isVideo { self.lastVideoFrame = max(lastVideoFrame, timestamped.position) }
    guard limit.isReached(duration: timestamped.position - start, bytes: bytes) else {
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
