import NIOCore

/// A reader of the bits of a VP9 header, the most significant bit of each byte first (VP9 bitstream specification, 9.1).
struct VP9BitReader {
  private let frame: ByteBuffer
  /// The number of bits read so far.
  private(set) var position: Int

  /// - Parameter position: the first bit to be read, counted from the beginning of the frame.
  init(_ frame: ByteBuffer, position: Int = 0) {
    self.frame = frame
    self.position = max(0, position)
  }

  /// Reads a number of up to 32 bits.
  mutating func read(_ count: Int) throws(ParseError) -> Int {
    var value = 0
    var missing = count
    while missing > 0 {
      guard let byte = frame.getInteger(at: frame.readerIndex + position / 8, as: UInt8.self) else {
        throw .tooShort("A VP9 frame header", needs: (position + missing + 7) / 8, found: frame.readableBytes)
      }
      let available = 8 - position % 8
      let taken = min(available, missing)
      let bits = Int(byte) >> (available - taken) & (1 << taken - 1)
      value = value << taken | bits
      position += taken
      missing -= taken
    }
    return value
  }

  mutating func flag() throws(ParseError) -> Bool { try read(1) == 1 }

  mutating func skip(_ count: Int) throws(ParseError) { _ = try read(count) }

  /// Skips a field of `count` bits that is present if the flag before it is set.
  mutating func skipOptional(_ count: Int) throws(ParseError) {
    if try flag() { try skip(count) }
  }
}
