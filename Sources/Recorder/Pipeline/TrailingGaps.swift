import Media

/// What is missing after the last frame of each track. No later frame can report it, so it becomes a final gap. With
/// this gap, a track's gaps contain all packets and frames that its counts report as lost or dropped, apart from packets
/// whose audio came in a copy.
struct TrailingGaps: Sendable {
  /// Frames that the network lost and that gaps have reported.
  private var droppedInGaps: [MediaKind: UInt64] = [:]
  private var isOver = false
  private var dropped: [MediaKind: DroppedFrameRun] = [:]

  /// Records a received frame, whether or not it is admitted.
  ///
  /// - Parameter dropped: how many of the frames that its gap reports were dropped because memory was full.
  mutating func note(_ frame: EncodedFrame, dropped: Int) {
    guard let gap = frame.gap else { return }
    droppedInGaps[frame.codec.kind, default: 0] &+= UInt64(max(0, gap.framesDropped - dropped))
  }

  /// Ends the tracks: no frames follow.
  ///
  /// - Parameter dropped: frames that were dropped because memory was full, and that no later frame reported.
  mutating func end(dropped: [MediaKind: DroppedFrameRun]) {
    isOver = true
    self.dropped = dropped
  }

  /// Returns when the last frame arrived that was dropped and that no later frame reported.
  func droppedUntil(_ kind: MediaKind) -> MonotonicInstant? { dropped[kind]?.lastArrival }

  /// Returns the gaps at the end of a track; none while the track continues.
  ///
  /// - Parameters:
  ///   - rejection: the frames rejected since the last admitted one.
  ///   - statistics: the receiver's counts of the track; nil when there are none.
  ///   - packetsInGaps: how many packets its gaps report.
  func gaps(
    of kind: MediaKind, rejection: MediaGap?, statistics: TrackStatistics?, packetsInGaps: UInt64
  ) -> [MediaGap] {
    if !isOver { return [] }
    var gaps: [MediaGap] = []
    var known = (packets: packetsInGaps, frames: droppedInGaps[kind] ?? 0)
    if let last = dropped[kind] {
      gaps.append(last.gap(before: nil))
      known.packets &+= UInt64(clamping: last.lostBefore.packetsLost)
      known.frames &+= UInt64(clamping: last.lostBefore.framesDropped)
    }
    var rest = rejection ?? MediaGap(.lost)
    known.packets &+= UInt64(clamping: rest.packetsLost)
    if let statistics {
      // Packets that were given up are in gaps, whether they arrived later or never, unless a copy took their place.
      let givenUp = statistics.packetsLost &+ statistics.packetsLate
      let missing = givenUp - min(givenUp, statistics.repairedByRedundancy)
      rest.packetsLost += Int(clamping: missing - min(missing, known.packets))
      rest.framesDropped += Int(clamping: statistics.framesDropped - min(statistics.framesDropped, known.frames))
    }
    if rest.packetsLost > 0 || rest.framesDropped > 0 { gaps.append(rest) }
    return gaps
  }
}
