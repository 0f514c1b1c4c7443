import Media

/// What is missing behind the last frame of each track: no frame comes any more that could report it, so it becomes a last
/// gap, and the gaps add up to what is counted.
struct TrackEnd: Sendable {
  /// Frames that the network cost and that gaps have told of.
  private var droppedInGaps: [MediaKind: UInt64] = [:]
  private var isOver = false
  private var leftOut: [MediaKind: DroppedFrameRun] = [:]

  /// A frame came, whatever becomes of it.
  ///
  /// - Parameter leftOut: how many of the frames that its gap reports were skipped because memory was full.
  mutating func note(_ frame: EncodedFrame, leftOut: Int) {
    guard let gap = frame.gap else { return }
    droppedInGaps[frame.codec.kind, default: 0] &+= UInt64(max(0, gap.framesDropped - leftOut))
  }

  /// Nothing more will come.
  ///
  /// - Parameter leftOut: what was skipped because memory was full, and no frame told of.
  mutating func end(leftOut: [MediaKind: DroppedFrameRun]) {
    isOver = true
    self.leftOut = leftOut
  }

  /// When the last frame came that was skipped and that no frame told of.
  func leftOutUntil(_ kind: MediaKind) -> MonotonicInstant? { leftOut[kind]?.lastArrival }

  /// The gaps at the end of a track; none while it continues.
  ///
  /// - Parameters:
  ///   - refusal: what was refused since the last frame.
  ///   - statistics: what was counted of the track as it came in; nil when nothing was.
  ///   - packetsInGaps: how many packets its gaps report.
  func gaps(
    of kind: MediaKind, rejection: MediaGap?, statistics: TrackStatistics?, packetsInGaps: UInt64
  ) -> [MediaGap] {
    if !isOver { return [] }
    var gaps: [MediaGap] = []
    var known = (packets: packetsInGaps, frames: droppedInGaps[kind] ?? 0)
    if let last = leftOut[kind] {
      gaps.append(last.gap(before: nil))
      known.packets &+= UInt64(clamping: last.lostBefore.packetsLost)
      known.frames &+= UInt64(clamping: last.lostBefore.framesDropped)
    }
    var rest = rejection ?? MediaGap(.lost)
    known.packets &+= UInt64(clamping: rest.packetsLost)
    if let statistics {
      // Packets that were given up are in gaps, whether they came after that or never.
      let givenUp = statistics.packetsLost &+ statistics.packetsLate
      rest.packetsLost += Int(clamping: givenUp - min(givenUp, known.packets))
      rest.framesDropped += Int(clamping: statistics.framesDropped - min(statistics.framesDropped, known.frames))
    }
    if rest.packetsLost > 0 || rest.framesDropped > 0 { gaps.append(rest) }
    return gaps
  }
}
