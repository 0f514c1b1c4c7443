package import Bitstream
package import NIOCore

/// The packets of a received and decrypted datagram: a compound packet (RFC 3550, 6.1), or a reduced-size one, which may
/// contain any packet (RFC 5506, 3.4.2).
///
/// Each packet has a length of its own, so a malformed one costs only itself. Only a length beyond the end of the datagram
/// also costs what follows. Padding, which exists for block ciphers, is dropped.
package struct RTCPCompound: Sendable, Hashable {
  /// The valid packets, in their order, with those of unknown types.
  package private(set) var packets: [RTCPPacket] = []
  /// The number of malformed packets; an empty datagram counts as one.
  package private(set) var packetsSkipped = 0
  /// Why the first of them is malformed; nil if none is.
  package private(set) var firstError: ParseError?

  package init(parsing datagram: ByteBuffer) {
    var rest = datagram
    // Each turn reads at least the four bytes of a header, or all that is left.
    repeat {
      do {
        packets.append(try RTCPPacket(parsing: try RawRTCPPacket(parsing: &rest)))
      } catch {
        packetsSkipped += 1
        firstError = firstError ?? error
      }
    } while rest.readableBytes > 0
  }
}
