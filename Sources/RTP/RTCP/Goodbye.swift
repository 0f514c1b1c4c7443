internal import Bitstream
package import NIOCore

/// The end of sources: BYE (RFC 3550, 6.6).
package struct Goodbye: Sendable, Hashable {
  package var sources: [UInt32]
  /// The optional reason, at most 255 bytes of UTF-8.
  package let reason: String?

  private static let maximumReason = 255

  /// - Parameter reason: a text of more than 255 bytes is cut at a Unicode scalar.
  package init(sources: [UInt32], reason: String? = nil) {
    self.sources = sources
    self.reason = reason.map(Self.shortened)
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    var sources: [UInt32] = []
    sources.reserveCapacity(Int(raw.count))
    for _ in 0..<raw.count {
      guard let source = body.readInteger(as: UInt32.self) else {
        throw .tooShort("A goodbye of \(raw.count) sources", needs: 4 * Int(raw.count), found: raw.body.readableBytes)
      }
      sources.append(source)
    }
    if body.readableBytes == 0 {
      self.init(sources: sources)
      return
    }
    let found = body.readableBytes
    let length = Int(body.readInteger(as: UInt8.self) ?? 0)
    guard let text = body.readString(length: length) else {
      throw .tooShort("A goodbye's reason", needs: 1 + length, found: found)
    }
    // Invalid UTF-8 is repaired, which makes the text longer.
    self.init(sources: sources, reason: text)
  }

  /// Writes as many packets as the sources need, 31 in each; the last one contains the reason.
  package func write(into buffer: inout ByteBuffer) {
    var rest = sources[...]
    repeat {
      let some = rest.prefix(31)
      rest = rest.dropFirst(31)
      buffer.writeRTCP(type: RTCPPacket.Kind.goodbye, count: some.count) { body in
        for source in some { body.writeInteger(source) }
        if rest.isEmpty, let reason { Self.write(reason, into: &body) }
      }
    } while !rest.isEmpty
  }

  private static func write(_ reason: String, into body: inout ByteBuffer) {
    let start = body.writerIndex
    body.writeInteger(UInt8(truncatingIfNeeded: reason.utf8.count))
    body.writeString(reason)
    body.padToWord(since: start)
  }

  private static func shortened(_ text: String) -> String {
    if text.utf8.count <= maximumReason { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: maximumReason)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text[..<end])
  }
}
