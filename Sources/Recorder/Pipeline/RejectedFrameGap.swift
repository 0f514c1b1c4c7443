import Media

/// What refused frames leave behind: the next frame that is taken has a gap before it, with all that the refused ones told.
/// Those before a track's first frame leave only what was lost between them: a track begins where it begins.
struct RejectedFrameGap: Sendable {
  private var hasBegun = false
  /// What no frame has told of so far.
  private(set) var gap: MediaGap?

  /// A frame was refused.
  mutating func add(_ frame: EncodedFrame) {
    if !hasBegun, frame.gap == nil { return }
    var sum = gap ?? MediaGap(frame.codec.kind == .video ? .waitingForKeyframe : .lost)
    if hasBegun { sum.framesDropped += 1 }
    sum.packetsLost += frame.gap?.packetsLost ?? 0
    sum.framesDropped += frame.gap?.framesDropped ?? 0
    gap = sum
  }

  /// Gives the frame that is taken all that was refused before it.
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
