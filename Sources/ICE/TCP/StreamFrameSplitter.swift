package import NIOCore

/// Datagrams on a connection, each after its length in two bytes (RFC 4571, 2).
package enum StreamFraming {
  /// The bytes of the length in front of each datagram.
  package static let headerLength = 2

  /// Writes a datagram with its length; one of more than 65,535 bytes is left out.
  package static func write(_ datagram: ByteBuffer, into bytes: inout ByteBuffer) {
    guard let length = UInt16(exactly: datagram.readableBytes) else { return }
    bytes.writeInteger(length)
    bytes.writeImmutableBuffer(datagram)
  }
}

/// Splits the bytes of a connection into datagrams (RFC 4571, 2).
///
/// It keeps at most one incomplete datagram, which has at most 65,535 bytes. Complete datagrams inside a chunk are slices
/// of it.
package struct StreamFrameSplitter: Sendable {
  private var partial = ByteBuffer()

  package init() {}

  /// The bytes of the incomplete datagram, with its length.
  package var buffered: Int { partial.readableBytes }

  /// The length of the incomplete datagram, of which at least two bytes have arrived; nil if there is none.
  package var announcedLength: Int? {
    partial.getInteger(at: partial.readerIndex, as: UInt16.self).map(Int.init)
  }

  /// Reads the next whole datagram, which may be empty; nil when the chunk is used up.
  package mutating func next(from chunk: inout ByteBuffer) -> ByteBuffer? {
    if chunk.readableBytes == 0 { return nil }
    if partial.readableBytes == 0, let whole = chunk.readLengthPrefixedSlice(as: UInt16.self) { return whole }
    return keep(from: &chunk)
  }

  /// Appends to the incomplete datagram, and returns it if it is complete.
  private mutating func keep(from chunk: inout ByteBuffer) -> ByteBuffer? {
    while true {
      let length = partial.getInteger(at: partial.readerIndex, as: UInt16.self).map(Int.init)
      let wanted = StreamFraming.headerLength + (length ?? 0) - partial.readableBytes
      if length != nil, wanted == 0 {
        defer { partial = ByteBuffer() }
        return partial.getSlice(
          at: partial.readerIndex + StreamFraming.headerLength,
          length: partial.readableBytes - StreamFraming.headerLength)
      }
      guard let bytes = chunk.readSlice(length: min(wanted, chunk.readableBytes)), bytes.readableBytes > 0 else {
        return nil
      }
      partial.writeImmutableBuffer(bytes)
    }
  }
}
