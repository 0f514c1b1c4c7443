internal import Bitstream
package import NIOCore

/// The clock and counters of a sender, with its reception reports: SR (RFC 3550, 6.4.1).
package struct SenderReport: Sendable, Hashable {
  package var ssrc: UInt32
  /// The sender's wall clock when the report was sent.
  package var ntpTime: NTPTime
  /// The same time on the clock of the RTP timestamps.
  package var rtpTimestamp: UInt32
  package var packetCount: UInt32
  /// Payload bytes sent, without headers and padding.
  package var octetCount: UInt32
  package var reports: [ReportBlock]
  /// Profile-specific bytes after the reports, kept as received.
  package var profileExtension: ByteBuffer

  package init(
    ssrc: UInt32, ntpTime: NTPTime, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32,
    reports: [ReportBlock] = [], profileExtension: ByteBuffer = ByteBuffer()
  ) {
    self.ssrc = ssrc
    self.ntpTime = ntpTime
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
    self.reports = reports
    self.profileExtension = profileExtension
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard
      let (ssrc, time, rtpTimestamp, packetCount, octetCount) = body.readMultipleIntegers(
        as: (UInt32, UInt64, UInt32, UInt32, UInt32).self)
    else {
      throw .tooShort("A sender report's body", needs: 24, found: raw.body.readableBytes)
    }
    self.ssrc = ssrc
    ntpTime = NTPTime(value: time)
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
    reports = try ReportBlock.read(count: raw.count, of: "A sender report", from: &body)
    profileExtension = body
  }

  package func write(into buffer: inout ByteBuffer) {
    let own = reports.prefix(31)
    buffer.writeRTCP(type: RTCPPacket.Kind.senderReport, count: own.count) { body in
      body.writeMultipleIntegers(ssrc, ntpTime.value, rtpTimestamp, packetCount, octetCount)
      for report in own { report.write(into: &body) }
      body.writeImmutableBuffer(profileExtension)
    }
    if reports.count > 31 {
      ReceiverReport(ssrc: ssrc, reports: Array(reports.dropFirst(31))).write(into: &buffer)
    }
  }
}
