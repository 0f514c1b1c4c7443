package import NIOCore

/// Iterates over the elements in a part of a file that is in memory.
package struct EBMLReader: Sequence, IteratorProtocol {
  private var bytes: ByteBuffer

  package init(_ bytes: ByteBuffer) {
    self.bytes = bytes
  }

  /// Returns the next complete element and its content.
  package mutating func next() -> (head: EBMLElementHeader, content: ByteBuffer)? {
    guard
      let head = EBMLElementHeader(parsing: bytes), let size = head.size,
      size <= Int64(bytes.readableBytes - head.length)
    else { return nil }
    bytes.moveReaderIndex(forwardBy: head.length)
    return bytes.readSlice(length: Int(size)).map { (head, $0) }
  }
}

extension ByteBuffer {
  /// An unsigned integer of up to eight bytes (RFC 8794, 7.2); 0 for a longer one.
  var ebmlUnsigned: UInt64 {
    readableBytes > 8 ? 0 : readableBytesView.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The id and size of an element in a file (RFC 8794, 5 and 6).
package struct EBMLElementHeader: Sendable, Hashable {
  /// The maximum length: an id of four bytes and a size of eight.
  static let maximumLength = 12

  package let identifier: UInt32
  /// The number of content bytes; nil for “unknown”.
  package let size: Int64?
  /// The length of the size field in bytes.
  package let sizeLength: Int
  /// The length of id and size in bytes.
  package let length: Int

  /// Parses a header; nil when no element begins with these bytes, or when there are too few of them.
  package init?(parsing bytes: ByteBuffer) {
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

  package func `is`(_ element: MatroskaElement) -> Bool { identifier == element.rawValue }

  private static func bigEndian(_ bytes: inout ByteBuffer, length: Int) -> UInt64? {
    guard let part = bytes.readBytes(length: length) else { return nil }
    return part.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
