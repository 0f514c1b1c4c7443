import Media

/// Combines the samples of one connection, without its received packets. When counters restart, because the connection was
/// recreated, the new counts are added to the earlier ones.
struct ConnectionCounter: Sendable {
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

    mutating func add(_ sent: ConnectionSample.Sent?) {
      guard let sent else { return }
      packets &+= sent.packets
      bytes &+= sent.bytes
      frames &+= sent.frames
      lost &+= UInt64(max(0, sent.packetsLost))
      keyframeRequests &+= sent.keyframeRequests
    }
  }

  /// Records a sample.
  ///
  /// - Returns: the RTP payload bits per second that we sent since the previous sample; nil if they are not known.
  mutating func receive(_ sample: ConnectionSample, at time: Double) -> Double? {
    if let now = sample.sent, let before = newest.sent, now.packets < before.packets { sent.add(before) }
    let isCounted = sample.sent != nil
    newest = sample
    if let roundTrip = sample.roundTripTime { roundTrips.add(roundTrip) }
    guard isCounted else { return nil }
    var sentBitrate: Double?
    let bytes = whole.bytes
    if let last, time > last.time, bytes >= last.bytes {
      sentBitrate = Double(bytes - last.bytes) * 8 / (time - last.time)
    }
    if last.map({ time > $0.time }) ?? true { last = (time, bytes) }
    first = first ?? (time, bytes)
    return sentBitrate
  }

  private var whole: SentSum {
    var sum = sent
    sum.add(newest.sent)
    return sum
  }

  /// The totals so far, without the received packets.
  var report: ConnectionReport {
    var report = ConnectionReport()
    report.localAddress = newest.localAddress
    report.remoteAddress = newest.remoteAddress
    report.localCandidateType = newest.localCandidateType
    report.remoteCandidateType = newest.remoteCandidateType
    report.protectionProfile = newest.protectionProfile
    report.roundTripTime = roundTrips.spread
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
        targetBitrate: newest.sent?.targetBitrate)
    }
    report.impairment = newest.impairment.isEmpty ? nil : newest.impairment
    return report
  }
}
