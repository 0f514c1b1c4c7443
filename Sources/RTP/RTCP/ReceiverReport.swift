internal import Bitstream
package import NIOCore

/// The reception reports of a participant that sends no media: RR (RFC 3550, 6.4.2).
package struct ReceiverReport: Sendable, Hashable {
  package var ssrc: UInt32
  package var reports: [ReportBlock]
  /// Profile-specific bytes after the reports, kept as received.
  package var profileExtension: ByteBuffer

  package init(ssrc: UInt32, reports: [ReportBlock] = [], profileExtension: ByteBuffer = ByteBuffer()) {
    self.ssrc = ssrc
    self.reports = reports
    self.profileExtension = profileExtension
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard let ssrc = body.readInteger(as: UInt32.self) else {
      throw .tooShort("A receiver report's body", needs: 4, found: raw.body.readableBytes)
    }
    self.ssrc = ssrc
    reports = try ReportBlock.read(count: raw.count, of: "A receiver report", from: &body)
    profileExtension = body
  }

  /// Writes as many packets as the reports need, 31 in each.
  package func write(into buffer: inout ByteBuffer) {
    var rest = reports[...]
    repeat {
      let some = rest.prefix(31)
      rest = rest.dropFirst(31)
      buffer.writeRTCP(type: RTCPPacket.Kind.receiverReport, count: some.count) { body in
        body.writeInteger(ssrc)
        for report in some { report.write(into: &body) }
        if rest.isEmpty { body.writeImmutableBuffer(profileExtension) }
      }
    } while !rest.isEmpty
  }
}

/// The reception report on one source, in sender and receiver reports (RFC 3550, 6.4.1).
package struct ReportBlock: Sendable, Hashable {
  static let byteCount = 24

  /// The source that the report is about.
  package var ssrc: UInt32
  /// The fraction lost since the last report, in 1/256.
  package var fractionLost: UInt8
  /// Packets lost in total; negative when duplicates outnumber losses. Clamped to 24 bits on the wire.
  package var cumulativeLost: Int32
  /// The highest sequence number received, with the number of wraps in the upper half.
  package var extendedHighestSequenceNumber: UInt32
  /// Interarrival jitter in ticks of the source's clock.
  package var jitter: UInt32
  /// LSR: the middle 32 bits of the last sender report's NTP time; 0 when there was none.
  package var lastSenderReport: UInt32
  /// DLSR: the delay since that report was received, in 2⁻¹⁶ s.
  package var delaySinceLastSenderReport: UInt32

  package init(
    ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, extendedHighestSequenceNumber: UInt32,
    jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  /// Returns the round-trip time for the source, or nil when the block answers no report yet.
  package func roundTripTime(now: NTPTime) -> Duration? {
    now.roundTripTime(lastReport: lastSenderReport, delay: delaySinceLastSenderReport)
  }

  /// Reads `count` blocks from the front of a report.
  static func read(count: UInt8, of part: String, from body: inout ByteBuffer) throws(ParseError) -> [ReportBlock] {
    guard body.readableBytes >= Int(count) * byteCount else {
      throw .tooShort("\(part) of \(count) blocks", needs: Int(count) * byteCount, found: body.readableBytes)
    }
    var blocks: [ReportBlock] = []
    blocks.reserveCapacity(Int(count))
    for _ in 0..<count {
      guard
        let (ssrc, loss, highest, jitter, last, delay) = body.readMultipleIntegers(
          as: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32).self)
      else { break }
      blocks.append(
        ReportBlock(
          ssrc: ssrc, fractionLost: UInt8(loss >> 24), cumulativeLost: Int32(bitPattern: loss << 8) >> 8,
          extendedHighestSequenceNumber: highest, jitter: jitter, lastSenderReport: last,
          delaySinceLastSenderReport: delay))
    }
    return blocks
  }

  func write(into buffer: inout ByteBuffer) {
    let lost = UInt32(bitPattern: max(-0x80_0000, min(0x7F_FFFF, cumulativeLost))) & 0xFF_FFFF
    buffer.writeMultipleIntegers(
      ssrc, UInt32(fractionLost) << 24 | lost, extendedHighestSequenceNumber, jitter, lastSenderReport,
      delaySinceLastSenderReport)
  }
}
