package import NIOCore
package import RTP

/// Creates the RTP packets of one source and assigns their sequence numbers.
package struct RTPStreamSender: Sendable {
  package let ssrc: UInt32
  package var payloadType: UInt8
  /// The RTP timestamp at the origin of the media timeline; random (RFC 3550, 5.1).
  package let timestampOffset: UInt32
  private var sequenceNumber: UInt16

  /// - Parameter generator: for the first sequence number, which stays below 2¹⁵ so that the loss of the first packets
  ///   cannot leave the two sides with different rollover counters (RFC 3711, 3.3.1).
  package init(ssrc: UInt32, payloadType: UInt8, using generator: inout some RandomNumberGenerator) {
    self.ssrc = ssrc
    self.payloadType = payloadType
    timestampOffset = generator.next()
    sequenceNumber = generator.next() & 0x7FFF
  }

  /// Returns a packet of the source. It gets its sequence number when it leaves (``number(_:)``), so that one that is
  /// dropped before leaves no gap.
  ///
  /// - Parameter ticks: the frame's position on the media timeline.
  package func packet(_ payload: ByteBuffer, ticks: Int64, marker: Bool) -> RTPPacket {
    RTPPacket(
      marker: marker, payloadType: payloadType, sequenceNumber: 0, timestamp: timestamp(ticks: ticks), ssrc: ssrc,
      payload: payload)
  }

  /// Assigns the next sequence number to a packet of the source.
  package mutating func number(_ packet: inout RTPPacket) {
    packet.sequenceNumber = sequenceNumber
    sequenceNumber &+= 1
  }

  /// Returns the next packet of a retransmission stream (RFC 4588).
  package mutating func retransmission(of original: RTPPacket) -> RTPPacket {
    defer { sequenceNumber &+= 1 }
    return Retransmission.wrap(original, payloadType: payloadType, ssrc: ssrc, sequenceNumber: sequenceNumber)
  }

  package func timestamp(ticks: Int64) -> UInt32 {
    timestampOffset &+ UInt32(truncatingIfNeeded: ticks)
  }
}
