package import NIOCore

/// Numbers of 7 bits a byte, the lowest first; all bytes but the last have the highest bit (AV1 bitstream specification, 4.10.5).
package enum LEB128 {
  /// The maximum number of bytes.
  private static let maximumBytes = 8

  /// Reads a number, at most 2^32 - 1, from the front of a buffer.
  ///
  /// - Parameter part: what an error says of the number.
  package static func read(_ part: String, from buffer: inout ByteBuffer) throws(ParseError) -> Int {
    var value: UInt64 = 0
    for index in 0..<maximumBytes {
      guard let byte = buffer.readInteger(as: UInt8.self) else { throw .tooShort(part, needs: index + 1, found: index) }
      value |= UInt64(byte & 0x7F) << UInt64(7 * index)
      guard byte & 0x80 == 0 else { continue }
      guard value <= UInt64(UInt32.max) else {
        throw .wrongValue(part, expected: "at most \(UInt32.max)", found: Int(truncatingIfNeeded: value))
      }
      return Int(truncatingIfNeeded: value)
    }
    throw .wrongValue("\(part) in LEB128", expected: "at most 8 bytes long", found: 9)
  }

  /// The number of bytes that a number takes: 1 to 5.
  package static func byteCount(of value: Int) -> Int {
    let value = UInt32(clamping: value)
    return value == 0 ? 1 : (38 - value.leadingZeroBitCount) / 7
  }

  /// Writes a number in as few bytes as possible. A negative one becomes 0, one above 2^32 - 1 that.
  package static func write(_ value: Int, into buffer: inout ByteBuffer) {
    buffer.setLEB128(value, byteCount: byteCount(of: value), at: buffer.writerIndex)
    buffer.moveWriterIndex(forwardBy: byteCount(of: value))
  }
}

extension ByteBuffer {
  /// Sets the bytes at an index to a number of 7 bits a byte. The number must fit into `byteCount` bytes.
  package mutating func setLEB128(_ value: Int, byteCount: Int, at index: Int) {
    var rest = UInt32(clamping: value)
    for offset in 0..<byteCount {
      setInteger(UInt8(truncatingIfNeeded: rest & 0x7F) | (offset < byteCount - 1 ? 0x80 : 0), at: index + offset)
      rest >>= 7
    }
  }
}
