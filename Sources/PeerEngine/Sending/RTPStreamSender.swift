package import NIOCore
package import RTP

/// Numbers the packets of one source and gives them their header extensions.
package struct RTPStreamSender: Sendable {
  package let ssrc: UInt32
  package var payloadType: UInt8
  /// The media time line's zero as an RTP timestamp; random (RFC 3550, 5.1).
  package let timestampOffset: UInt32
  private var sequenceNumber: UInt16

  /// - Parameter generator: for the first sequence number, which stays below 2¹⁵ so that the first packets' loss cannot
  ///   leave the two sides with different rollover counts (RFC 3711, 3.3.1).
  package init(ssrc: UInt32, payloadType: UInt8, using generator: inout some RandomNumberGenerator) {
    self.ssrc = ssrc
    self.payloadType = payloadType
    timestampOffset = generator.next()
    sequenceNumber = generator.next() & 0x7FFF
  }

  /// A packet of the source itself; it gets its number when it leaves (``number(_:)``), so that one that never does leaves
  /// no hole.
  ///
  /// - Parameter ticks: the frame's place on the media time line.
  package func packet(_ payload: ByteBuffer, ticks: Int64, marker: Bool) -> RTPPacket {
    RTPPacket(
      marker: marker, payloadType: payloadType, sequenceNumber: 0, timestamp: timestamp(ticks: ticks), ssrc: ssrc,
      payload: payload)
  }

  /// Gives a packet of the source the next number.
  package mutating func number(_ packet: inout RTPPacket) {
    packet.sequenceNumber = sequenceNumber
    sequenceNumber &+= 1
  }

  /// The next packet of a source that retransmits another's (RFC 4588).
  package mutating func retransmission(of original: RTPPacket) -> RTPPacket {
    defer { sequenceNumber &+= 1 }
    return Retransmission.wrap(original, payloadType: payloadType, ssrc: ssrc, sequenceNumber: sequenceNumber)
  }

  package func timestamp(ticks: Int64) -> UInt32 {
    timestampOffset &+ UInt32(truncatingIfNeeded: ticks)
  }
}
