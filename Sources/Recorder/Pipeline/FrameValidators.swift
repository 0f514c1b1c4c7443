import Codecs
package import Media

/// Rejects frames before a keyframe that can be parsed, keyframes above 4096x4096, and the frames that depend on a
/// rejected one. Frames of another codec than the track's first are rejected too, because a file's track has one codec. So the output can be decoded from its first frame on, and no decoder has to allocate memory for an
/// absurd size.
package struct VideoFrameValidator: Sendable {
  /// The codec of the track: that of its first admitted frame.
  package private(set) var codec: Codec?
  /// The codec of the first frame that was rejected because it is not that; nil if there was none.
  package private(set) var otherCodec: Codec?
  /// Whether all frames since the last keyframe were admitted.
  private var canDecode = false
  private var refusedGap = RejectedFrameGap()
  /// Rejected frames.
  package private(set) var refused: UInt64 = 0
  /// The gap that consists of the frames rejected since the last admitted one; nil when there are none.
  var openGap: MediaGap? { refusedGap.gap }

  package init() {}

  /// Returns an admitted frame, with the keyframe flag and size taken from its bitstream, or nil if the frame is
  /// rejected.
  package mutating func admit(_ frame: EncodedFrame) -> EncodedFrame? {
    var frame = frame
    if let codec, frame.codec != codec { otherCodec = otherCodec ?? frame.codec }
    if let header = frame.header.video, VideoDecoder.accepts(header.size), frame.codec == codec ?? frame.codec {
      frame.size = header.size
      frame.isKeyframe = header.isKeyframe
      canDecode = canDecode || frame.isKeyframe
    } else {
      canDecode = false
    }
    guard canDecode else {
      refused += 1
      refusedGap.add(frame)
      return nil
    }
    codec = frame.codec
    return refusedGap.settle(frame)
  }
}

/// Rejects audio packets that are not valid in their codec (for Opus: empty packets, or lengths that do not add up: RFC 6716,
/// 3.4), and packets that exceed real time (`AudioBudget`).
struct AudioPacketValidator: Sendable {
  private var refusedGap = RejectedFrameGap()
  /// Rejected packets.
  private(set) var refused: UInt64 = 0
  /// The gap that consists of the packets rejected since the last admitted one; nil when there are none.
  var openGap: MediaGap? { refusedGap.gap }

  /// Returns an admitted packet with its parsed header, or nil if the packet is rejected.
  mutating func admit(_ frame: EncodedFrame, budget: inout AudioBudget) -> (EncodedFrame, AudioHeader)? {
    guard let header = frame.header.audio, budget.take(header.duration, arrival: frame.arrived) else {
      refused += 1
      refusedGap.add(frame)
      return nil
    }
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
