internal import Bitstream
package import NIOCore

/// The header extension of an RTP packet (RFC 3550, 5.3.1), with elements of one-byte or two-byte headers (RFC 8285,
/// 4).
///
/// The bytes are stored as received and searched on access: most packets have three or four elements, and the receiver
/// needs one or two. So every extension, also one of an unknown profile, is written back unchanged.
package struct RTPHeaderExtensions: Sendable, Hashable {
  /// The profile of elements with one-byte headers (RFC 8285, 4.2).
  package static let oneByteProfile: UInt16 = 0xBEDE
  /// The profile of elements with two-byte headers; its low four bits are for the application (RFC 8285, 4.3).
  package static let twoByteProfile: UInt16 = 0x1000

  /// The 16 bits "defined by profile", or nil when the packet has no header extension.
  package internal(set) var profile: UInt16?
  /// The extension's bytes after its length field, padding included; always a multiple of four.
  package internal(set) var content: ByteBuffer

  /// Creates the value of a packet without a header extension.
  package init() {
    profile = nil
    content = ByteBuffer()
  }

  /// Reads profile, length and content from the bytes after the contributing sources.
  init(parsing rest: inout ByteBuffer) throws(ParseError) {
    let found = rest.readableBytes
    guard let (profile, words) = rest.readMultipleIntegers(as: (UInt16, UInt16).self) else {
      throw .tooShort("An RTP header extension", needs: 4, found: found)
    }
    guard let content = rest.readSlice(length: 4 * Int(words)) else {
      throw .tooShort("An RTP header extension of \(words) words", needs: 4 + 4 * Int(words), found: found)
    }
    self.profile = profile
    self.content = content
  }

  /// Whether the packet has a header extension (its X bit), even an empty one.
  package var isPresent: Bool { profile != nil }

  /// The number of bytes that `write(into:)` writes.
  package var byteCount: Int { isPresent ? 4 + content.readableBytes : 0 }

  /// Writes profile, length and content, or nothing when there is no extension.
  package func write(into buffer: inout ByteBuffer) {
    guard let profile else { return }
    buffer.writeMultipleIntegers(profile, UInt16(truncatingIfNeeded: content.readableBytes / 4))
    buffer.writeImmutableBuffer(content)
  }

  /// The value of the element with this id, without its header, or nil.
  ///
  /// Setting nil removes the element. Setting a value overwrites the element if the length is the same, and otherwise
  /// appends it. Ids below 1 and values above 255 bytes are not stored. An extension that has only ids up to 14 and
  /// values of 1 to 16 bytes is written with one-byte headers; the first element that needs more converts all of them
  /// to two-byte headers. An extension of an unknown profile has no elements, and setting one replaces the extension.
  package subscript(id: UInt8) -> ByteBuffer? {
    get {
      guard let element = element(id) else { return nil }
      return content.getSlice(at: element.valueIndex, length: element.valueCount)
    }
    set {
      guard let newValue else { return remove(id) }
      guard (0...255).contains(newValue.readableBytes) else { return }
      if let index = allocateElement(id: id, count: newValue.readableBytes) { content.setBuffer(newValue, at: index) }
    }
  }
}
