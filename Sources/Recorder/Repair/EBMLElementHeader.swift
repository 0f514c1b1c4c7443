import NIOCore

/// The beginning of an element as it stands in a file (RFC 8794, 5 and 6).
struct EBMLElementHeader: Sendable, Hashable {
  /// The longest: an id of four bytes and a size of eight.
  static let longest = 12

  let identifier: UInt32
  /// Bytes of content; nil for “unknown”.
  let size: Int64?
  /// Bytes of the size field.
  let sizeLength: Int
  /// Bytes of id and size.
  let length: Int

  /// Nil when the bytes begin no element, or are too few to tell.
  init?(parsing bytes: ByteBuffer) {
    var bytes = bytes
    guard let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self), first >= 0x10 else { return nil }
    let idLength = first.leadingZeroBitCount + 1
    guard let id = Self.bigEndian(&bytes, length: idLength) else { return nil }
    guard let second = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self), second != 0 else { return nil }
    sizeLength = second.leadingZeroBitCount + 1
    guard let raw = Self.bigEndian(&bytes, length: sizeLength) else { return nil }
    let mask: UInt64 = 1 << UInt64(7 * sizeLength) - 1
    identifier = UInt32(truncatingIfNeeded: id)
    size = raw & mask == mask ? nil : Int64(raw & mask)
    length = idLength + sizeLength
  }

  func `is`(_ element: WebMElement) -> Bool { identifier == element.rawValue }

  private static func bigEndian(_ bytes: inout ByteBuffer, length: Int) -> UInt64? {
    guard let part = bytes.readBytes(length: length) else { return nil }
    return part.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
