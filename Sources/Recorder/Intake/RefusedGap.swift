import Media

/// What refused frames leave behind: the next frame that is taken has a gap before it, with all that the refused ones told.
struct RefusedGap: Sendable {
  private var gap: MediaGap?

  /// A frame was refused.
  mutating func add(_ frame: EncodedFrame) {
    var sum = gap ?? MediaGap(frame.codec.kind == .video ? .waitingForKeyframe : .lost)
    sum.framesDropped += 1
    sum.packetsLost += frame.gap?.packetsLost ?? 0
    sum.framesDropped += frame.gap?.framesDropped ?? 0
    gap = sum
  }

  /// Gives the frame that is taken all that was refused before it.
  mutating func settle(_ frame: EncodedFrame) -> EncodedFrame {
    guard var gap else { return frame }
    self.gap = nil
    var frame = frame
    gap.packetsLost += frame.gap?.packetsLost ?? 0
    gap.framesDropped += frame.gap?.framesDropped ?? 0
    frame.gap = gap
    return frame
  }
}
