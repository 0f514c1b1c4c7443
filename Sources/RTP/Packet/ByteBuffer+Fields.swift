import NIOCore

/// Field sizes of RTP and RTCP that `ByteBuffer` does not support.
extension ByteBuffer {
  /// Reads a 24-bit big-endian number. Returns nil and consumes nothing when fewer than 3 bytes are left.
  mutating func readUInt24() -> UInt32? {
    guard let (high, low) = readMultipleIntegers(as: (UInt8, UInt16).self) else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  /// Writes the low 24 bits, big-endian.
  mutating func writeUInt24(_ value: UInt32) {
    writeMultipleIntegers(UInt8(truncatingIfNeeded: value >> 16), UInt16(truncatingIfNeeded: value))
  }

  /// Appends zeros until the number of bytes since `start` is a multiple of four.
  mutating func padToWord(since start: Int) {
    let excess = (writerIndex - start) & 3
    if excess != 0 { writeRepeatingByte(0, count: 4 - excess) }
  }
}
