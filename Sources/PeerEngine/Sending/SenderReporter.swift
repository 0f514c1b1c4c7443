package import RTP

/// Counts what one source sends, and stores what its receiver reports.
package struct SenderReporter: Sendable {
  package private(set) var packetsSent: UInt64 = 0
  /// The payload bytes sent.
  package private(set) var bytesSent: UInt64 = 0
  /// The share of packets that the receiver lost recently, 0 to 1.
  package private(set) var fractionLost: Double = 0
  /// The cumulative number of packets that the receiver lost.
  package private(set) var packetsLost: Int64 = 0
  /// The number of report blocks that the receiver has sent.
  package private(set) var receptionReports: UInt64 = 0
  /// The interarrival jitter at the receiver, in seconds.
  package private(set) var jitter: Double = 0

  /// The clock rate of the source's timestamps.
  package var clockRate: Int32

  /// - Parameter clockRate: the clock rate of the source's timestamps.
  package init(clockRate: Int32) {
    self.clockRate = clockRate
  }

  package mutating func sent(payloadBytes: Int) {
    packetsSent &+= 1
    bytesSent &+= UInt64(payloadBytes)
  }

  /// - Parameters:
  ///   - time: the wall clock now.
  ///   - timestamp: the source's timestamp of the same moment.
  package func report(
    ssrc: UInt32, time: NTPTime, timestamp: UInt32, blocks: [ReportBlock]
  ) -> SenderReport {
    SenderReport(
      ssrc: ssrc, ntpTime: time, rtpTimestamp: timestamp, packetCount: UInt32(truncatingIfNeeded: packetsSent),
      octetCount: UInt32(truncatingIfNeeded: bytesSent), reports: blocks)
  }

  /// Handles the receiver's report block on the source.
  ///
  /// - Parameter time: the wall clock now, as in our sender reports.
  /// - Returns: The round-trip time, if the block contains it.
  package mutating func received(_ block: ReportBlock, time: NTPTime) -> Duration? {
    receptionReports &+= 1
    fractionLost = Double(block.fractionLost) / 256
    packetsLost = Int64(block.cumulativeLost)
    jitter = Double(block.jitter) / Double(clockRate)
    return block.roundTripTime(now: time)
  }
}
