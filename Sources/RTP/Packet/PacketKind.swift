package import NIOCore

/// The protocol of a datagram on a shared WebRTC socket, by its first two bytes (RFC 7983, 7; RFC 5761, 4).
package enum PacketKind: Sendable, Hashable {
  case stun
  case dtls
  /// RTP, or SRTP when encrypted.
  case rtp
  /// RTCP, or SRTCP when encrypted.
  case rtcp
  /// ZRTP, TURN channel data, or anything else.
  case unknown

  /// Returns the kind of a datagram; an empty one is unknown.
  package static func of(_ datagram: ByteBuffer) -> PacketKind {
    let start = datagram.readerIndex
    guard let first = datagram.getInteger(at: start, as: UInt8.self) else { return .unknown }
    return of(firstByte: first, secondByte: datagram.getInteger(at: start + 1, as: UInt8.self))
  }

  /// Returns the kind by the range of the first byte and, within 128...191, by the second: RTCP's packet types
  /// 192...223 are not used as RTP payload types when both share a port.
  ///
  /// - Parameter secondByte: nil in a datagram of one byte, which is neither RTP nor RTCP.
  package static func of(firstByte: UInt8, secondByte: UInt8?) -> PacketKind {
    switch firstByte {
    case 0...3: return .stun
    case 20...63: return .dtls
    case 128...191:
      guard let secondByte else { return .unknown }
      return (192...223).contains(secondByte) ? .rtcp : .rtp
    default: return .unknown
    }
  }
}
