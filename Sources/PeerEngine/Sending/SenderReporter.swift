package import RTP

/// Counts what one source sends, and keeps what its receiver says of it.
package struct SenderReporter: Sendable {
  package private(set) var packetsSent: UInt64 = 0
  /// Payload bytes.
  package private(set) var bytesSent: UInt64 = 0
  /// The share that the receiver lost recently, 0 to 1.
  package private(set) var fractionLost: Double = 0
  /// Packets that the receiver has lost in all.
  package private(set) var packetsLost: Int64 = 0
  /// What the receiver measured, in seconds.
  package private(set) var jitter: Double = 0

  private let clockRate: Double

  /// - Parameter clockRate: ticks a second of the source's timestamps.
  package init(clockRate: Int32) {
    self.clockRate = Double(clockRate)
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

  /// Takes in the receiver's report on the source.
  ///
  /// - Parameter time: the wall clock now, as our sender reports tell it.
  /// - Returns: the round trip, if the block tells it.
  package mutating func received(_ block: ReportBlock, time: NTPTime) -> Duration? {
    fractionLost = Double(block.fractionLost) / 256
    packetsLost = Int64(block.cumulativeLost)
    jitter = Double(block.jitter) / clockRate
    return block.roundTripTime(now: time)
  }
}
