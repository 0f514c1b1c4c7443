internal import NIOCore

/// Consecutive frames of one track that were dropped because there was no room for them, and what was missing before them.
package struct DroppedFrameRun: Sendable, Hashable {
  /// ``MediaGap/Reason/diskStalled`` or ``MediaGap/Reason/overloaded``.
  package var reason: MediaGap.Reason { lostBefore.reason }
  package private(set) var count = 0
  package private(set) var keyframes = 0
  /// Bytes of payload.
  package private(set) var bytes = 0
  /// When the first and the last of them arrived; nil while there is none.
  package private(set) var firstArrival: MonotonicInstant?
  package private(set) var lastArrival: MonotonicInstant?
  /// Packets and frames that were lost earlier on their way, as the gaps of the dropped frames say.
  package private(set) var lostBefore: MediaGap

  package init(_ reason: MediaGap.Reason) {
    lostBefore = MediaGap(reason)
  }

  package mutating func add(_ frame: EncodedFrame) {
    count += 1
    if frame.isKeyframe { keyframes += 1 }
    bytes += frame.payload.readableBytes
    firstArrival = min(firstArrival ?? frame.arrived, frame.arrived)
    lastArrival = max(lastArrival ?? frame.arrived, frame.arrived)
    note(frame.gap)
  }

  /// The gap before the next frame of the track.
  ///
  /// - Parameter next: the gap that this frame has already.
  package func gap(before next: MediaGap?) -> MediaGap {
    var sum = self
    sum.note(next)
    sum.lostBefore.framesDropped += count
    sum.lostBefore.delay = next?.delay ?? .zero
    return sum.lostBefore
  }

  private mutating func note(_ gap: MediaGap?) {
    lostBefore.packetsLost += gap?.packetsLost ?? 0
    lostBefore.framesDropped += gap?.framesDropped ?? 0
  }
}
