import Bitstream
import NIOCore

/// A chunk of a packet, with its body not yet parsed (RFC 9260, 3.2).
struct RawChunk {
  var type: UInt8
  var flags: UInt8
  /// The bytes after the first four, padding excluded.
  var body: ByteBuffer

  /// Reads one chunk from the front of a packet's chunks. The padding of the last one may be missing.
  init(parsing rest: inout ByteBuffer) throws(ParseError) {
    let found = rest.readableBytes
    guard let (type, flags, length) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else {
      throw .tooShort("An SCTP chunk", needs: 4, found: found)
    }
    guard length >= 4 else {
      throw .wrongValue("The length of an SCTP chunk", expected: "at least 4", found: Int(length))
    }
    guard let body = rest.readSlice(length: Int(length) - 4) else {
      throw .tooShort("An SCTP chunk of type \(type)", needs: Int(length), found: found)
    }
    self.type = type
    self.flags = flags
    self.body = body
    rest.skipPadding(after: Int(length))
  }
}

extension ByteBuffer {
  /// Skips the zero to three bytes that pad `length` to a multiple of four, as far as they are there.
  mutating func skipPadding(after length: Int) {
    moveReaderIndex(forwardBy: min(-length & 3, readableBytes))
  }

  /// Writes a chunk: its header, its body, and padding, which the length does not count.
  mutating func writeChunk(_ type: UInt8, flags: UInt8 = 0, body: (inout ByteBuffer) -> Void) {
    let start = writerIndex
    writeMultipleIntegers(type, flags, UInt16(0))
    body(&self)
    finishLength(since: start)
  }

  /// Writes a parameter or error cause: type, length, value and padding (RFC 9260, 3.2.1).
  mutating func writeParameter(_ type: UInt16, value: (inout ByteBuffer) -> Void) {
    let start = writerIndex
    writeMultipleIntegers(type, UInt16(0))
    value(&self)
    finishLength(since: start)
  }

  /// Sets the length two bytes after `start` and pads to a multiple of four; what is too long is left out.
  private mutating func finishLength(since start: Int) {
    let length = writerIndex - start
    guard let field = UInt16(exactly: length) else {
      moveWriterIndex(to: start)
      return
    }
    setInteger(field, at: start + 2)
    let padding = -length & 3
    if padding > 0 { writeRepeatingByte(0, count: padding) }
  }
}
