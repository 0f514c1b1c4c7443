import NIOCore

/// The retransmission payload format, RTX: lost packets are retransmitted in a stream of their own (RFC 4588, 4).
package enum Retransmission {
  /// Bytes that the format adds to a payload: the original sequence number.
  package static let overhead = 2

  /// Returns the packet that retransmits `original`. Marker, timestamp, contributing sources and header extensions are
  /// those of the original; change the extensions afterwards if the RTX stream needs its own (repaired rid,
  /// transport-wide sequence number).
  ///
  /// - Parameters:
  ///   - payloadType: the RTX payload type whose `apt` is the original payload type.
  ///   - ssrc: the SSRC of the RTX stream.
  ///   - sequenceNumber: the next sequence number of the RTX stream.
  package static func wrap(
    _ original: RTPPacket, payloadType: UInt8, ssrc: UInt32, sequenceNumber: UInt16
  ) -> RTPPacket {
    var payload = ByteBuffer()
    payload.reserveCapacity(overhead + original.payload.readableBytes)
    payload.writeInteger(original.sequenceNumber)
    payload.writeImmutableBuffer(original.payload)
    var packet = original
    packet.payloadType = payloadType
    packet.ssrc = ssrc
    packet.sequenceNumber = sequenceNumber
    packet.payload = payload
    packet.paddingLength = 0
    return packet
  }

  /// Restores the original packet from a retransmission.
  ///
  /// - Parameters:
  ///   - payloadType: the original payload type.
  ///   - ssrc: the original SSRC.
  /// - Returns: the original packet, or nil when the payload is empty, as in the padding with which browsers probe the
  ///   bandwidth.
  package static func unwrap(_ packet: RTPPacket, payloadType: UInt8, ssrc: UInt32) -> RTPPacket? {
    var original = packet
    guard let sequenceNumber = original.payload.readInteger(as: UInt16.self) else { return nil }
    original.payloadType = payloadType
    original.ssrc = ssrc
    original.sequenceNumber = sequenceNumber
    original.paddingLength = 0
    return original
  }
}
