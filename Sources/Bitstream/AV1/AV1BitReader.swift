import NIOCore

/// A reader of the bits of an AV1 header, the most significant bit of each byte first (AV1 bitstream specification, 4.10).
struct AV1BitReader {
  private let bytes: ByteBuffer
  private let part: String
  /// The number of bits read so far.
  private(set) var position = 0

  /// - Parameter part: what an error says of the bytes.
  init(_ bytes: ByteBuffer, part: String) {
    self.bytes = bytes
    self.part = part
  }

  /// Reads a number of up to 32 bits: f(n).
  mutating func read(_ count: Int) throws(ParseError) -> Int {
    if (1...32).contains(count),
      let word = bytes.getInteger(at: bytes.readerIndex + position / 8, as: UInt64.self)
    {
      // At most 7 bits that were read, and then those that are wanted.
      let value = (word << UInt64(position % 8)) >> UInt64(64 - count)
      position += count
      return Int(truncatingIfNeeded: value)
    }
    return try readBytes(count)
  }

  /// The same near the end, a byte at a time.
  private mutating func readBytes(_ count: Int) throws(ParseError) -> Int {
    var value = 0
    var missing = min(count, 32)
    while missing > 0 {
      guard let byte = bytes.getInteger(at: bytes.readerIndex + position / 8, as: UInt8.self) else {
        throw .tooShort(part, needs: (position + missing + 7) / 8, found: bytes.readableBytes)
      }
      let available = 8 - position % 8
      let taken = min(available, missing)
      value = value << taken | Int(byte) >> (available - taken) & (1 << taken - 1)
      position += taken
      missing -= taken
    }
    return value
  }

  mutating func flag() throws(ParseError) -> Bool { try read(1) == 1 }

  mutating func skip(_ count: Int) throws(ParseError) {
    var missing = count
    while missing > 0 {
      _ = try read(missing)
      missing -= 32
    }
  }

  /// Skips a number of variable length: uvlc().
  mutating func skipVariableLength() throws(ParseError) {
    var zeros = 0
    while try !flag() { zeros += 1 }
    if zeros < 32 { try skip(zeros) }
  }
}
