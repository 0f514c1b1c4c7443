import Media

/// Combines the samples of one connection. When counters restart, because a track or the connection was recreated, the
/// new counts are added to the earlier ones.
struct ConnectionCounter: Sendable {
  /// The change since the previous sample.
  struct Change: Sendable {
    /// Media packets that were sent, and those that did not arrive at the first attempt.
    var packets: UInt64 = 0
    var missing: UInt64 = 0
    /// Keyframes that we requested.
    var keyframeRequests: UInt64 = 0
    /// RTP payload bits per second that we sent.
    var sentBitrate: Double?
  }

  private var received: [MediaKind: CumulativeTrackStatistics] = [:]
  private var jitter: [MediaKind: Samples] = [:]
  private var sent = SentSum()
  private var roundTrips = Samples()
  private var newest = ConnectionSample()
  private var first: (time: Double, bytes: UInt64)?
  private var last: (time: Double, bytes: UInt64)?

  /// The counters of sent packets.
  private struct SentSum: Sendable {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var frames: UInt64 = 0
    var lost: UInt64 = 0
    var keyframeRequests: UInt64 = 0

    mutating func add(_ sample: ConnectionSample) {
      packets &+= sample.packetsSent
      bytes &+= sample.bytesSent
      frames &+= sample.framesSent
      lost &+= UInt64(max(0, sample.packetsLost))
      keyframeRequests &+= sample.keyframeRequests
    }
  }

  mutating func receive(_ sample: ConnectionSample, at time: Double) -> Change {
    let before = totals
    for (kind, counts) in sample.received {
      received[kind, default: .init()].update(counts)
      jitter[kind, default: Samples()].add(counts.jitter)
    }
    if sample.packetsSent < newest.packetsSent { sent.add(newest) }
    newest = sample
    if let roundTrip = sample.roundTripTime { roundTrips.add(roundTrip) }
    let now = totals
    var change = Change()
    change.packets = now.packets - min(now.packets, before.packets)
    change.missing = now.missing - min(now.missing, before.missing)
    change.keyframeRequests = now.keyframeRequests - min(now.keyframeRequests, before.keyframeRequests)
    let bytes = whole.bytes
    if let last, time > last.time, bytes >= last.bytes {
      change.sentBitrate = Double(bytes - last.bytes) * 8 / (time - last.time)
    }
    if last.map({ time > $0.time }) ?? true { last = (time, bytes) }
    first = first ?? (time, bytes)
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

  private var whole: SentSum {
    var sum = sent
    sum.add(newest)
    return sum
  }

  /// The totals so far.
  var report: ConnectionReport {
    var report = ConnectionReport()
    report.localAddress = newest.localAddress
    report.remoteAddress = newest.remoteAddress
    report.localCandidateType = newest.localCandidateType
    report.remoteCandidateType = newest.remoteCandidateType
    report.protectionProfile = newest.protectionProfile
    report.roundTripTime = roundTrips.spread
    for kind in MediaKind.allCases {
      report[kind] = received[kind].flatMap { track(of: $0.total, jitter: jitter[kind]) }
    }
    let sent = whole
    if sent.packets > 0 {
      var bitrate: Double?
      if let first, let last, last.time > first.time, last.bytes >= first.bytes {
        bitrate = roundedForReport(Double(last.bytes - first.bytes) * 8 / (last.time - first.time))
      }
      report.sent = ConnectionReport.Sent(
        packets: sent.packets, bytes: sent.bytes, frames: sent.frames, bitrate: bitrate, packetsLost: sent.lost,
        loss: roundedForReport(min(1, Double(sent.lost) / Double(sent.packets))),
        keyframeRequests: sent.keyframeRequests,
        targetBitrate: newest.targetBitrate)
    }
    report.impairment = newest.impairment.isEmpty ? nil : newest.impairment
    return report
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
