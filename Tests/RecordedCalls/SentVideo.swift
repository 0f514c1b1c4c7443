package import Media

/// The video of a stream of a synthetic call: the test pattern, encoded.
package struct SentVideo: Sendable, Hashable {
  /// Another size or another codec from a time on, which begins with a keyframe. In a codec that is not encoded live it has no gaps.
  package struct Change: Sendable, Hashable {
    /// In seconds of the call.
    package var at: Double
    package var codec: Codec
    /// As it is shown.
    package var size: VideoSize
    /// How a receiver turns the frames.
    package var orientation: VideoOrientation

    package init(at: Double, codec: Codec = .vp8, size: VideoSize, orientation: VideoOrientation = .upright) {
      self.at = at
      self.codec = codec
      self.size = size
      self.orientation = orientation
    }
  }

  package var codec: Codec
  package var size: VideoSize
  package var framesPerSecond: Int
  /// Bits a second.
  package var bitrate: Int
  package var changes: [Change]
  package var gaps: [SentGap]
  /// When only the first frame of each second is sent, in seconds of the call.
  package var slow: Range<Double>?
  /// When the bytes of each frame are damaged, in seconds of the call.
  package var damaged: Range<Double>?
  /// The interval in which it is sent, in seconds of the call; nil for the whole stay of the user.
  package var span: Range<Double>?
  /// The maximum distance between keyframes, in frames.
  package var keyframeDistance: Int
  /// Whether it is H.264 with B-frames, which neither changes nor has gaps.
  package var reorders: Bool

  package init(
    _ codec: Codec = .vp8, size: VideoSize = VideoSize(width: 320, height: 240), framesPerSecond: Int = 30,
    bitrate: Int = 600_000, changes: [Change] = [], gaps: [SentGap] = [], slow: Range<Double>? = nil,
    damaged: Range<Double>? = nil, span: Range<Double>? = nil, keyframeDistance: Int = 150,
    reorders: Bool = false
  ) {
    self.reorders = reorders
    self.codec = codec
    self.size = size
    self.framesPerSecond = framesPerSecond
    self.bitrate = bitrate
    self.changes = changes
    self.gaps = gaps
    self.slow = slow
    self.damaged = damaged
    self.span = span
    self.keyframeDistance = keyframeDistance
  }
}
