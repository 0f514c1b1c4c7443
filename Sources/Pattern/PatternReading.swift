/// The content of one frame of the pattern.
///
/// On the frame it is 128 bits, most significant bit first: 16 of the stream id, 32 of the frame number, 48 of the
/// time, and a 32-bit checksum over the preceding 96.
package struct PatternReading: Sendable, Hashable {
  /// The stream id, which distinguishes several patterns.
  package var streamID: UInt16
  /// The frame number, which starts at 0 and increases by one with each frame.
  package var frameNumber: UInt32
  /// When the frame was painted by the sender's clock, in milliseconds since 1970; the lower 48 bits.
  package var time: UInt64

  package init(streamID: UInt16, frameNumber: UInt32, time: UInt64) {
    self.streamID = streamID
    self.frameNumber = frameNumber
    self.time = time & Self.timeMask
  }

  static let timeMask: UInt64 = 0xFFFF_FFFF_FFFF

  /// The 16 bytes on the frame, including the checksum.
  var bytes: [UInt8] {
    var bytes = [UInt8]()
    bytes.reserveCapacity(16)
    func append(_ value: UInt64, bits: Int) {
      for shift in stride(from: bits - 8, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: value >> shift))
      }
    }
    append(UInt64(streamID), bits: 16)
    append(UInt64(frameNumber), bits: 32)
    append(time, bits: 48)
    append(UInt64(PatternChecksum.of(bytes)), bits: 32)
    return bytes
  }

  /// Parses the 16 bytes of a frame.
  ///
  /// - Returns: nil if the checksum does not match.
  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    guard UInt64(PatternChecksum.of(bytes.prefix(12))) == number(12..<16) else { return nil }
    self.init(
      streamID: UInt16(truncatingIfNeeded: number(0..<2)), frameNumber: UInt32(truncatingIfNeeded: number(2..<6)),
      time: number(6..<12))
  }
}

/// The checksum of zip, PNG and Ethernet: CRC-32 with the reflected polynomial 0xEDB88320 (ISO 3309).
enum PatternChecksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { sum, byte in sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
  }
}
