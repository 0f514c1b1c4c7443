import NIOCore

/// The retransmission payload format, RTX: a lost packet in a stream of its own (RFC 4588, 4).
package enum Retransmission {
  /// Bytes that wrapping adds: the original sequence number.
  package static let overhead = 2

  /// Makes the packet that carries `original` again. Marker, timestamp, contributing sources and header extensions are the
  /// original's; change the extensions afterwards where the stream's own are due (repaired rid, transport-wide number).
  ///
  /// - Parameters:
  ///   - payloadType: the RTX payload type whose `apt` is the original's.
  ///   - ssrc: the RTX stream's source.
  ///   - sequenceNumber: the RTX stream's own next number.
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

  /// Gets the original packet back from a retransmission.
  ///
  /// - Parameters:
  ///   - payloadType: the original's payload type.
  ///   - ssrc: the original's source.
  /// - Returns: nil when no packet is in it, as in the padding with which browsers probe the line.
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
