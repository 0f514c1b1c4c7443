import NIOCore

/// The number of a picture of VP8 or VP9, which counts up from picture to picture, with its encoded size (RFC 7741, 4.2; RFC 9628, 4.2).
package struct PictureID: Sendable, Hashable {
  /// The number, of 7 or 15 bits.
  package var value: UInt16
  /// Whether it has 15 bits (the M bit).
  package var isLong: Bool

  package init(_ value: UInt16, isLong: Bool = true) {
    self.value = value & (isLong ? 0x7FFF : 0x7F)
    self.isLong = isLong
  }

  /// Returns how many pictures after another one this is, modulo the range of the shorter number.
  package func distance(from other: PictureID) -> Int {
    Int((value &- other.value) & (isLong && other.isLong ? 0x7FFF : 0x7F))
  }

  var byteCount: Int { isLong ? 2 : 1 }

  func write(into buffer: inout ByteBuffer) {
    if isLong {
      buffer.writeInteger(0x8000 | value)
    } else {
      buffer.writeInteger(UInt8(truncatingIfNeeded: value & 0x7F))
    }
  }
}
