import NIOCore
import RTP

/// RTP with its header extensions, and RTCP.
enum PacketTargets {
  /// Parses, writes, parses again, unwraps and modifies a datagram.
  static func rtp(_ input: [UInt8]) throws(InvariantViolation) {
    let datagram = ByteBuffer(bytes: input)
    _ = PacketKind.of(datagram)
    guard var packet = try? RTPPacket(parsing: datagram) else { return }
    let again = written { packet.write(into: &$0) }
    try require(again.readableBytes == datagram.readableBytes, "A packet changes its length when written.")
    try require((try? RTPPacket(parsing: again)) == packet, "A packet does not round-trip.")
    if packet.paddingLength == 0 { try require(again == datagram, "A packet is not written back unchanged.") }
    try require(
      packet.extensions.elements.allSatisfy { $0.value.readableBytes <= 255 }, "An extension has more than 255 bytes.")
    try PayloadTargets.descriptor(packet.payload)
    _ = Retransmission.unwrap(packet, payloadType: 96, ssrc: 1)
    // An id for a one-byte header, an id that is often present already, and one that needs a two-byte header.
    let id: UInt8 = [1, 4, 255][Int(packet.ssrc % 3)]
    _ = (packet.extensions.text(id), packet.extensions.audioLevel(id), packet.extensions.transportSequenceNumber(id))
    try orientation(of: packet, id)
    packet.extensions.setTransportSequenceNumber(7, id)
    try require(packet.extensions.transportSequenceNumber(id) == 7, "A sequence number that was set is missing.")
    try require(
      (try? RTPPacket(parsing: written { packet.write(into: &$0) })) == packet, "A changed packet does not round-trip."
    )
  }

  /// Reads, sets, reads and removes the coordination of video orientation.
  private static func orientation(of packet: RTPPacket, _ id: UInt8) throws(InvariantViolation) {
    var packet = packet
    if let stated = packet.extensions.videoOrientation(id) {
      try require((0...3).contains(stated.quarterTurns), "A frame is turned more than once around.")
    }
    let wanted = VideoOrientationElement(quarterTurns: Int(packet.ssrc & 3), isFlipped: packet.ssrc & 4 != 0)
    packet.extensions.setVideoOrientation(wanted, id)
    let again = packet.extensions.videoOrientation(id)
    try require(again == nil || again == wanted, "An orientation that was set is another one.")
    try require(
      (try? RTPPacket(parsing: written { packet.write(into: &$0) })) == packet,
      "A packet with an orientation does not round-trip.")
    packet.extensions.setVideoOrientation(nil, id)
    try require(packet.extensions.videoOrientation(id) == nil, "An orientation that was removed is still there.")
  }

  /// Parses, writes and parses a compound datagram again.
  static func rtcp(_ input: [UInt8]) throws(InvariantViolation) {
    let compound = RTCPCompound(parsing: ByteBuffer(bytes: input))
    let packets = compound.packets
    try require(
      compound.packetsSkipped + packets.count <= max(1, (input.count + 3) / 4), "More packets than headers fit.")
    try require((compound.firstError == nil) == (compound.packetsSkipped == 0), "A skipped packet has no error.")
    if packets.isEmpty { return }
    // Reserved bits and padding are not kept, so the bytes may differ, but not the values.
    let again = written { RTCPPacket.write(packets, into: &$0) }
    try require((try? RTCPPacket.parse(compound: again)) == packets, "Packets do not round-trip.")
    for packet in packets {
      switch packet {
      case .genericNACK(let nack):
        try require(nack.sequenceNumbers.count <= 17 * nack.entries.count, "A NACK requests more than it can.")
      case .transportFeedback(let feedback):
        try require(feedback.arrivals.count == feedback.deltas.count, "Feedback reports more packets than it has.")
      case .receiverEstimatedMaximumBitrate(let estimate):
        _ = estimate.bitrate
      case .senderReport(let report):
        _ = report.reports.map { $0.roundTripTime(now: report.ntpTime) }
      default: break
      }
    }
  }
}
