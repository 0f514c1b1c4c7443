import COgg
package import NIOCore

/// One page of an Ogg file (RFC 3533, 6).
package struct OggPage: Sendable, Hashable {
  /// The fixed part of a page's header.
  package static let headerLength = 27
  /// The maximum length: a header with all its lacing values, and 255 segments of 255 bytes.
  static let maximumLength = headerLength + 255 + 255 * 255

  /// The whole page; its reader index is 0.
  package private(set) var bytes: ByteBuffer

  /// Parses the page at the start of these bytes; nil unless a complete page with a correct checksum begins there.
  package init?(parsing bytes: ByteBuffer) {
    let view = bytes.readableBytesView
    let start = view.startIndex
    guard view.count >= Self.headerLength, view.prefix(4).elementsEqual("OggS".utf8), view[start + 4] == 0 else {
      return nil
    }
    let bodyStart = Self.headerLength + Int(view[start + 26])
    guard view.count >= bodyStart else { return nil }
    let length = view[(start + Self.headerLength)..<(start + bodyStart)].reduce(bodyStart) { $0 + Int($1) }
    guard view.count >= length, let page = bytes.getSlice(at: bytes.readerIndex, length: length) else { return nil }
    self.bytes = page
    var again = self
    again.writeChecksum()
    if again.checksum != checksum { return nil }
  }

  package var length: Int { bytes.readableBytes }
  /// The granule position at the end of the last packet that ends on the page; -1 when no packet does.
  package var granule: Int64 { integer(at: 6) }
  var serial: Int32 { integer(at: 14) }
  var sequence: UInt32 { integer(at: 18) }
  var isFirst: Bool { flags & 0x02 != 0 }
  /// Whether the page ends the stream.
  var isLast: Bool { flags & 0x04 != 0 }
  /// Whether the page's last packet ends on it.
  var endsWithPacket: Bool {
    let count = Int(bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
    guard count > 0, let last = bytes.getInteger(at: Self.headerLength + count - 1, as: UInt8.self) else {
      return false
    }
    return last < 255
  }
  /// The lengths of the page's segments; a segment of less than 255 bytes ends a packet (RFC 3533, 6).
  package var lacing: [UInt8] {
    bytes.getBytes(at: Self.headerLength, length: Int(bytes.getInteger(at: 26, as: UInt8.self) ?? 0)) ?? []
  }
  /// The page's content.
  var body: ByteBuffer {
    let start = Self.headerLength + Int(bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
    return bytes.getSlice(at: start, length: length - start) ?? ByteBuffer()
  }

  /// A page without packets that ends the stream after this page (RFC 3533, 6: end of stream). Marking the last page
  /// with packets itself would require overwriting it.
  var end: OggPage {
    var page = self
    page.bytes = bytes.getSlice(at: 0, length: Self.headerLength) ?? ByteBuffer()
    page.bytes.setInteger(0x04 as UInt8, at: 5)
    page.bytes.setInteger(-1 as Int64, at: 6, endianness: .little)
    page.bytes.setInteger(sequence &+ 1, at: 18, endianness: .little)
    page.bytes.setInteger(0 as UInt8, at: 26)
    page.writeChecksum()
    return page
  }

  private var flags: UInt8 { bytes.getInteger(at: 5, as: UInt8.self) ?? 0 }
  private var checksum: UInt32 { integer(at: 22) }

  private func integer<Value: FixedWidthInteger>(at position: Int) -> Value {
    bytes.getInteger(at: position, endianness: .little, as: Value.self) ?? 0
  }

  private mutating func writeChecksum() {
    let headerLength = Self.headerLength + Int(bytes.getInteger(at: 26, as: UInt8.self) ?? 0)
    let length = bytes.readableBytes
    bytes.withUnsafeMutableReadableBytes { raw in
      let start = raw.bindMemory(to: UInt8.self).baseAddress
      var page = ogg_page(
        header: start, header_len: headerLength, body: start.map { $0 + headerLength }, body_len: length - headerLength)
      ogg_page_checksum_set(&page)
    }
  }
}
