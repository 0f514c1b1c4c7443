import Media

/// Decides where a recording's next files begin: at the first video keyframe after the limit was reached or, while no
/// video arrives, at an audio packet. Without a limit they begin only where a codec changes.
///
/// Some encoders of H.265 begin a group with a keyframe that is followed by frames which are shown before it and refer to frames before it
/// (RASL). A file that begins with such a keyframe cannot have them. So the next files begin with a keyframe without such frames if one
/// comes soon after the limit.
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
  /// The end of the video before the last frame.
  private var lastVideoEnd: Duration?
  private var lastRequest: MonotonicInstant?
  private var groups = OpenGroupDetector()
  private var spacing = FrameSpacing()

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
    if isVideo { note(timestamped, after: lastVideoFrame) }
    let duration = timestamped.position - start
    guard let limit, limit.isReached(duration: duration, bytes: bytes) else {
      return isBehind && isVideo && !timestamped.frame.isKeyframe ? askForKeyframe(now: now) : .goOn
    }
    if isVideo && timestamped.frame.isKeyframe {
      let isClosed = !groups.mayBegin(with: timestamped.frame)
      return isClosed || limit.isExceeded(duration: duration, bytes: bytes) ? .cut : askForKeyframe(now: now)
    }
    if !isVideo && (!hasVideo || timestamped.position - lastVideoFrame >= Self.pause) { return .cut }
    return askForKeyframe(now: now)
  }

  private mutating func note(_ timestamped: TimestampedFrame, after lastVideoFrame: Duration) {
    lastVideoEnd = self.lastVideoFrame.map { $0 + spacing.duration }
    self.lastVideoFrame = max(lastVideoFrame, timestamped.position)
    groups.add(timestamped.frame)
    spacing.add(timestamped)
  }

  /// Returns where files begin whose first frame is the one that was decided last. Frames that are shown before a keyframe and can be
  /// decoded with it (RADL) come after it: they follow the end of the last frame that came before the keyframe.
  func start(with timestamped: TimestampedFrame) -> Duration {
    let position = timestamped.position
    guard let video = timestamped.frame.header.video, video.leading != .none, timestamped.frame.gap == nil,
      let lastVideoEnd, lastVideoEnd < position, position - lastVideoEnd < Self.maximumLeading
    else { return position }
    return lastVideoEnd
  }

  /// For how long frames are shown at most that precede a keyframe in output and follow it in decoding.
  private static let maximumLeading = Duration.seconds(1)

  private mutating func askForKeyframe(now: MonotonicInstant) -> Decision {
    if let lastRequest, now - lastRequest < Self.requestInterval { return .goOn }
    lastRequest = now
    return .askForKeyframe
  }
}

/// Finds out whether keyframes of a stream begin open groups: frames follow them that refer to frames before them.
struct OpenGroupDetector: Sendable {
  /// Whether the last such keyframe of which that is known did.
  private var areOpen: Bool?
  /// Whether the frames since the last keyframe have not shown it yet.
  private var isUndecided = false
  private var hasFrames = false

  /// Adds the next frame in decoding order.
  mutating func add(_ frame: EncodedFrame) {
    defer { hasFrames = true }
    // What is missing may have been such frames; they are left out after a loss, and at the beginning.
    if !hasFrames || frame.gap != nil { return isUndecided = false }
    if frame.isKeyframe {
      isUndecided = frame.header.video?.leading == .any
    } else if isUndecided, frame.header.video?.isSkippedLeading ?? false {
      (areOpen, isUndecided) = (true, false)
    } else if isUndecided, !frame.isReordered {
      (areOpen, isUndecided) = (false, false)
    }
  }

  /// Returns whether a keyframe probably begins an open group.
  func mayBegin(with keyframe: EncodedFrame) -> Bool {
    keyframe.header.video?.leading == .any && areOpen != false
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

  /// By how much a segment may exceed the limit until a keyframe comes that is better to begin with than those before.
  private static let maximumExcess = Duration.seconds(10)

  /// Whether a segment is longer than its limit by half of it, or by 10 s, or larger by a tenth.
  func isExceeded(duration: Duration, bytes: Int64) -> Bool {
    if let limit = self.duration, duration >= limit + min(limit / 2, Self.maximumExcess) { return true }
    if let limit = self.bytes, bytes - limit >= limit / 10 { return true }
    return false
  }
}
