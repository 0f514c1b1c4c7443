import Bitstream
import NIOCore

/// An RTCP packet of a datagram, with its body not yet parsed (RFC 3550, 6.4.1).
struct RawRTCPPacket {
  /// The packet type.
  var type: UInt8
  /// The five bits after the padding bit: a count, subtype or feedback format.
  var count: UInt8
  /// The bytes after the first word, padding excluded.
  var body: ByteBuffer
  /// Whether the P bit was set.
  var isPadded: Bool

  /// Reads one packet from the front of a compound packet.
  init(parsing rest: inout ByteBuffer) throws(ParseError) {
    let found = rest.readableBytes
    guard let (first, type, words) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else {
      throw .tooShort("An RTCP header", needs: 4, found: found)
    }
    guard first >> 6 == 2 else { throw .wrongVersion("An RTCP packet", found: Int(first >> 6)) }
    guard let body = rest.readSlice(length: 4 * Int(words)) else {
      throw .tooShort("An RTCP packet of type \(type)", needs: 4 + 4 * Int(words), found: found)
    }
    self.type = type
    self.body = body
    count = first & 0x1F
    isPadded = first & 0x20 != 0
    if isPadded { try dropPadding() }
  }

  private mutating func dropPadding() throws(ParseError) {
    let available = body.readableBytes
    let announced = available == 0 ? 0 : body.getInteger(at: body.writerIndex - 1, as: UInt8.self) ?? 0
    guard announced > 0, Int(announced) <= available else {
      throw .wrongPadding("An RTCP packet of type \(type)", announced: Int(announced), available: available)
    }
    body.moveWriterIndex(to: body.writerIndex - Int(announced))
  }
}

extension ByteBuffer {
  /// Writes an RTCP header and a body, then sets the length in the header.
  ///
  /// A body that is not a multiple of four bytes is padded, with the P bit set. A packet of more than 262,144 bytes is
  /// left out: its 16-bit length cannot describe it, and no datagram could carry it.
  ///
  /// - Parameter count: 0...31.
  mutating func writeRTCP(type: UInt8, count: Int, body: (inout ByteBuffer) -> Void) {
    let start = writerIndex
    let first = 0x80 | UInt8(truncatingIfNeeded: count & 0x1F)
    writeMultipleIntegers(first, type, UInt16(0))
    body(&self)
    let padding = (start - writerIndex) & 3
    if padding > 0 {
      writeRepeatingByte(0, count: padding - 1)
      writeInteger(UInt8(padding))
      setInteger(first | 0x20, at: start)
    }
    if let words = UInt16(exactly: (writerIndex - start) / 4 - 1) {
      setInteger(words, at: start + 2)
    } else {
      moveWriterIndex(to: start)
    }
  }
}
