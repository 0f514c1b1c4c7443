import Media

/// Combines the counters of the received packets of one stream, sample by sample. When counters restart, because a track or
/// the connection was recreated, the new counts are added to the earlier ones.
struct PacketCounter: Sendable {
  /// The change since the previous sample.
  struct Change: Sendable {
    /// Media packets that were sent, and those that did not arrive at the first attempt.
    var packets: UInt64 = 0
    var missing: UInt64 = 0
    /// Keyframes that we requested.
    var keyframeRequests: UInt64 = 0
  }

  private var received: [MediaKind: CumulativeTrackStatistics] = [:]
  private var jitter: [MediaKind: Samples] = [:]

  /// Whether nothing was counted yet.
  var isEmpty: Bool { received.isEmpty }

  mutating func receive(_ sample: [MediaKind: TrackStatistics]) -> Change {
    let before = totals
    for (kind, counts) in sample {
      received[kind, default: .init()].update(counts)
      jitter[kind, default: Samples()].add(counts.jitter)
    }
    let now = totals
    var change = Change()
    change.packets = now.packets - min(now.packets, before.packets)
    change.missing = now.missing - min(now.missing, before.missing)
    change.keyframeRequests = now.keyframeRequests - min(now.keyframeRequests, before.keyframeRequests)
    return change
  }

  private var totals: (packets: UInt64, missing: UInt64, keyframeRequests: UInt64) {
    received.values.reduce((0, 0, 0)) { sum, track in
      let total = track.total
      return (
        sum.0 &+ total.packetsExpected &- min(total.packetsExpected, total.packetsPadding),
        sum.1 &+ total.packetsLost &+ total.packetsRecovered, sum.2 &+ total.keyframeRequests
      )
    }
  }

  /// Returns the totals of a track so far; nil if nothing was counted.
  func report(of kind: MediaKind) -> ConnectionReport.Received? {
    received[kind].flatMap { track(of: $0.total, jitter: jitter[kind]) }
  }

  private func track(of counts: TrackStatistics, jitter: Samples?) -> ConnectionReport.Received? {
    guard counts.packetsReceived > 0 || counts.packetsLost > 0 else { return nil }
    // A source without a count of expected packets still knows which packets arrived and which did not.
    let sent =
      counts.packetsExpected == 0
      ? counts.packetsReceived &+ counts.packetsLost
      : counts.packetsExpected - min(counts.packetsPadding, counts.packetsExpected)
    func share(_ count: UInt64) -> Double { sent > 0 ? roundedForReport(min(1, Double(count) / Double(sent))) : 0 }
    return ConnectionReport.Received(
      sent: sent, received: counts.packetsReceived, recovered: counts.packetsRecovered, lost: counts.packetsLost,
      duplicated: counts.packetsDuplicated, bytes: counts.bytesReceived, jitter: jitter?.spread,
      framesDropped: counts.framesDropped, keyframeRequests: counts.keyframeRequests,
      loss: share(counts.packetsLost &+ counts.packetsRecovered), finalLoss: share(counts.packetsLost))
  }
}
