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
