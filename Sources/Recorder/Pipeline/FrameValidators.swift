import Codecs
package import Media

/// Decides whether the codec of a track may change: at most once in ``interval``, because a file ends with each change.
package struct CodecChangeLimit: Sendable {
  static let seconds = 5
  package static let interval = Duration.seconds(seconds)

  /// The codec of the track: that of its last admitted frame.
  package private(set) var codec: Codec?
  /// When the codec changed last; nil if it never did.
  private var lastChange: MonotonicInstant?
  /// The codec of the last frame that was rejected because it came too early after a change; nil if none has been since the last
  /// admitted frame.
  package private(set) var rejected: Codec?

  /// Whether frames of a codec may be admitted now.
  mutating func allows(_ codec: Codec, now: MonotonicInstant) -> Bool {
    if isPossible(codec, now: now) { return true }
    rejected = codec
    return false
  }

  /// Notes an admitted frame.
  mutating func admitted(_ codec: Codec, now: MonotonicInstant) {
    rejected = nil
    if let known = self.codec, known != codec { lastChange = now }
    self.codec = codec
  }

  /// Whether a keyframe of the codec that was rejected would be admitted now.
  func isOver(now: MonotonicInstant) -> Bool { rejected.map { isPossible($0, now: now) } ?? false }

  private func isPossible(_ codec: Codec, now: MonotonicInstant) -> Bool {
    guard let known = self.codec, known != codec, let lastChange else { return true }
    return now - lastChange >= Self.interval
  }
}

/// Rejects frames before a keyframe that can be parsed, keyframes above 4096x4096, and the frames that depend on a
/// rejected one. A frame of another codec must be a keyframe, and must not come too early (``CodecChangeLimit``). So the output can be
/// decoded from its first frame on, and no decoder has to allocate memory for an absurd size.
package struct VideoFrameValidator: Sendable {
  private(set) var change = CodecChangeLimit()
  /// Whether all frames since the last keyframe were admitted.
  private var canDecode = false
  /// Whether frames are rejected that refer to those before the last keyframe, because not all of those were admitted.
  private var skipsLeading = false
  private var refusedGap = RejectedFrameGap()
  /// Rejected frames.
  package private(set) var refused: UInt64 = 0
  /// The gap that consists of the frames rejected since the last admitted one; nil when there are none.
  var openGap: MediaGap? { refusedGap.gap }

  package init() {}

  /// The codec of the track: that of its last admitted frame.
  package var codec: Codec? { change.codec }

  /// Rejects frames up to the next keyframe.
  mutating func requireKeyframe() { canDecode = false }

  /// Returns, once, the gap that consists of the frames rejected since the last admitted one; nil when there are none.
  mutating func takeOpenGap() -> MediaGap? { refusedGap.take() }

  /// Returns an admitted frame, with the keyframe flag and size taken from its bitstream, or nil if the frame is
  /// rejected.
  package mutating func admit(_ frame: EncodedFrame) -> EncodedFrame? {
    var frame = frame
    // A frame of another codec depends on none before it, or cannot be decoded.
    let isOther = frame.codec != change.codec
    if let header = frame.header.video, VideoDecoder.accepts(header.size),
      !isOther || change.allows(frame.codec, now: frame.arrived)
    {
      frame.size = header.size
      frame.isKeyframe = header.isKeyframe
      if frame.isKeyframe { skipsLeading = !canDecode || isOther }
      canDecode = frame.isKeyframe || canDecode && !isOther
    } else {
      canDecode = false
    }
    guard canDecode, !skipsLeading || frame.header.video?.isSkippedLeading == false else {
      refused += 1
      refusedGap.add(frame)
      return nil
    }
    if isOther || change.rejected != nil { change.admitted(frame.codec, now: frame.arrived) }
    return refusedGap.settle(frame)
  }
}

/// Rejects audio packets that are not valid in their codec (for Opus: empty packets, or lengths that do not add up: RFC 6716,
/// 3.4), packets of another codec that come too early (``CodecChangeLimit``), and packets that exceed real time (`AudioBudget`).
struct AudioPacketValidator: Sendable {
  private(set) var change = CodecChangeLimit()
  private var refusedGap = RejectedFrameGap()
  /// Rejected packets.
  private(set) var refused: UInt64 = 0
  /// The gap that consists of the packets rejected since the last admitted one; nil when there are none.
  var openGap: MediaGap? { refusedGap.gap }

  /// Returns, once, the gap that consists of the packets rejected since the last admitted one; nil when there are none.
  mutating func takeOpenGap() -> MediaGap? { refusedGap.take() }

  /// Returns an admitted packet with its parsed header, or nil if the packet is rejected.
  mutating func admit(_ frame: EncodedFrame, budget: inout AudioBudget) -> (EncodedFrame, AudioHeader)? {
    let isOther = frame.codec != change.codec
    guard let header = frame.header.audio, !isOther || change.allows(frame.codec, now: frame.arrived),
      budget.take(header.duration, arrival: frame.arrived)
    else {
      refused += 1
      refusedGap.add(frame)
      return nil
    }
    if isOther || change.rejected != nil { change.admitted(frame.codec, now: frame.arrived) }
    return (refusedGap.settle(frame), header)
  }
}

/// The gap that rejected frames leave: it is attached to the next admitted frame, together with all gaps that the
/// rejected frames reported. Frames rejected before a track's first frame contribute only the packets lost between
/// them, because a track starts with its first admitted frame.
struct RejectedFrameGap: Sendable {
  private var hasBegun = false
  /// The gap that no frame has reported so far.
  private(set) var gap: MediaGap?

  /// Adds a rejected frame.
  mutating func add(_ frame: EncodedFrame) {
    if !hasBegun, frame.gap == nil { return }
    var sum = gap ?? MediaGap(frame.codec.kind == .video ? .waitingForKeyframe : .lost)
    if hasBegun { sum.framesDropped += 1 }
    sum.packetsLost += frame.gap?.packetsLost ?? 0
    sum.framesDropped += frame.gap?.framesDropped ?? 0
    gap = sum
  }

  mutating func take() -> MediaGap? {
    defer { gap = nil }
    return gap
  }

  /// Returns the admitted frame with a gap that covers everything rejected before it.
  mutating func settle(_ frame: EncodedFrame) -> EncodedFrame {
    hasBegun = true
    guard var gap else { return frame }
    self.gap = nil
    var frame = frame
    gap.packetsLost += frame.gap?.packetsLost ?? 0
    gap.framesDropped += frame.gap?.framesDropped ?? 0
    frame.gap = gap
    return frame
  }
}
