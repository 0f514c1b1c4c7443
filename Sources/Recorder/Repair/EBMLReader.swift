import NIOCore

/// The elements inside a piece of a file that is held in memory.
struct EBMLReader: Sequence, IteratorProtocol {
  private var bytes: ByteBuffer

  init(_ bytes: ByteBuffer) {
    self.bytes = bytes
  }

  /// The next element that is there as a whole, and its content.
  mutating func next() -> (head: EBMLElementHeader, content: ByteBuffer)? {
    guard
      let head = EBMLElementHeader(parsing: bytes), let size = head.size,
      size <= Int64(bytes.readableBytes - head.length)
    else { return nil }
    bytes.moveReaderIndex(forwardBy: head.length)
    return bytes.readSlice(length: Int(size)).map { (head, $0) }
  }
}

extension ByteBuffer {
  /// An unsigned integer of up to eight bytes (RFC 8794, 7.2); 0 for one that is longer.
  var ebmlUnsigned: UInt64 {
    readableBytes > 8 ? 0 : readableBytesView.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
