internal import Bitstream
package import NIOCore

/// The header extension of an RTP packet (RFC 3550, 5.3.1), holding elements of one-byte or two-byte headers (RFC 8285, 4).
///
/// The bytes are kept as they came and searched when asked: most packets carry three or four elements, of which the
/// receiver wants one or two. So every extension, also one of an unknown profile, is written back as it was read.
package struct RTPHeaderExtensions: Sendable, Hashable {
  /// The profile that announces elements with one-byte headers (RFC 8285, 4.2).
  package static let oneByteProfile: UInt16 = 0xBEDE
  /// The profile that announces elements with two-byte headers, its low four bits left to the application
  /// (RFC 8285, 4.3).
  package static let twoByteProfile: UInt16 = 0x1000

  /// The 16 bits "defined by profile"; nil when the packet has no header extension at all.
  package internal(set) var profile: UInt16?
  /// The extension's bytes after its length field, padding included; always whole words.
  package internal(set) var content: ByteBuffer

  /// No header extension.
  package init() {
    profile = nil
    content = ByteBuffer()
  }

  /// Reads profile, length and content from the front of what follows the contributing sources.
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

  /// Whether the packet carries a header extension (its X bit), even an empty one.
  package var isPresent: Bool { profile != nil }

  /// How many bytes `write(into:)` writes.
  package var byteCount: Int { isPresent ? 4 + content.readableBytes : 0 }

  /// Writes profile, length and content; nothing when there is no extension.
  package func write(into buffer: inout ByteBuffer) {
    guard let profile else { return }
    buffer.writeMultipleIntegers(profile, UInt16(truncatingIfNeeded: content.readableBytes / 4))
    buffer.writeImmutableBuffer(content)
  }

  /// The value of the element with this id, without its header; nil when there is none.
  ///
  /// Setting nil removes the element. Setting a value replaces it in its place if the length is the same, and otherwise
  /// puts it last. Ids from 1 and values up to 255 bytes can be held, and others are not stored. An extension that has only
  /// ids up to 14 and values of 1 to 16 bytes is written with one-byte headers; the first element that needs more turns all
  /// of them into two-byte ones. An extension of an unknown profile has no elements, and setting one replaces it.
  package subscript(id: UInt8) -> ByteBuffer? {
    get {
      guard let element = element(id) else { return nil }
      return content.getSlice(at: element.valueIndex, length: element.valueCount)
    }
    set {
      guard let newValue else { return remove(id) }
      guard (0...255).contains(newValue.readableBytes) else { return }
      if let index = digitValue(id, count: newValue.readableBytes) { content.setBuffer(newValue, at: index) }
    }
  }
}
