import Media

/// Frames of one track that were turned away because the memory for what waits was full, and what was missing before them.
struct LeftOut: Sendable, Hashable {
  /// Frames that were turned away.
  private(set) var frames = 0
  /// `diskStalled` or `overloaded`.
  var reason: MediaGap.Reason { lostBefore.reason }
  /// When the last of them came.
  private(set) var last: ContinuousClock.Instant?
  /// Packets and frames that had been lost before they came here, as those frames' gaps tell.
  private(set) var lostBefore: MediaGap

  init(_ reason: MediaGap.Reason) {
    lostBefore = MediaGap(reason)
  }

  /// A frame is turned away.
  mutating func add(_ frame: EncodedFrame) {
    frames += 1
    last = frame.arrival
    note(frame.gap)
  }

  /// The gap that all of them leave before the next frame, which has one of its own perhaps.
  func gap(before next: MediaGap?) -> MediaGap {
    var sum = self
    sum.note(next)
    sum.lostBefore.framesDropped += frames
    sum.lostBefore.delay = next?.delay ?? .zero
    return sum.lostBefore
  }

  private mutating func note(_ gap: MediaGap?) {
    lostBefore.packetsLost += gap?.packetsLost ?? 0
    lostBefore.framesDropped += gap?.framesDropped ?? 0
  }
}
