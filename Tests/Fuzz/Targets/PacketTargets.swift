import NIOCore
import RTP

/// RTP with its header extensions, and RTCP.
enum PacketTargets {
  /// A datagram is read, written, read again, unwrapped, and changed.
  static func rtp(_ input: [UInt8]) throws(BrokenPromise) {
    let datagram = ByteBuffer(bytes: input)
    _ = PacketKind.of(datagram)
    guard var packet = try? RTPPacket(parsing: datagram) else { return }
    let again = written { packet.write(into: &$0) }
    try promise(again.readableBytes == datagram.readableBytes, "A packet is written with another length.")
    try promise((try? RTPPacket(parsing: again)) == packet, "A packet comes back otherwise.")
    if packet.paddingLength == 0 { try promise(again == datagram, "A packet is written back otherwise.") }
    try promise(
      packet.extensions.elements.allSatisfy { $0.value.readableBytes <= 255 }, "An extension has more than 255 bytes.")
    try PayloadTargets.descriptor(packet.payload)
    _ = Retransmission.unwrap(packet, payloadType: 96, ssrc: 1)
    // An id for a one-byte header, one that is often there already, one that needs a two-byte header.
    let id: UInt8 = [1, 4, 255][Int(packet.ssrc % 3)]
    _ = (packet.extensions.text(id), packet.extensions.audioLevel(id), packet.extensions.transportSequenceNumber(id))
    packet.extensions.setTransportSequenceNumber(7, id)
    try promise(packet.extensions.transportSequenceNumber(id) == 7, "A number that was set is not there.")
    try promise(
      (try? RTPPacket(parsing: written { packet.write(into: &$0) })) == packet, "A changed packet comes back otherwise."
    )
  }

  /// A compound datagram is read, written, and read again.
  static func rtcp(_ input: [UInt8]) throws(BrokenPromise) {
    guard let packets = try? RTCPPacket.parse(compound: ByteBuffer(bytes: input)) else { return }
    // Reserved bits and padding are not kept, so the bytes may differ, but never the meaning.
    let again = written { RTCPPacket.write(packets, into: &$0) }
    try promise((try? RTCPPacket.parse(compound: again)) == packets, "Packets come back otherwise.")
    for packet in packets {
      switch packet {
      case .genericNACK(let nack):
        try promise(nack.sequenceNumbers.count <= 17 * nack.entries.count, "A NACK requests more than it can.")
      case .transportFeedback(let feedback):
        try promise(feedback.arrivals.count == feedback.deltas.count, "Feedback reports more packets than it has.")
      case .maximumBitrateEstimate(let estimate):
        _ = estimate.bitrate
      case .senderReport(let report):
        _ = report.reports.map { $0.roundTripTime(now: report.ntpTime) }
      default: break
      }
    }
  }
}
