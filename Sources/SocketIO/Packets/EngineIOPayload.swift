/// The packets in the body of a long-polling request or response.
///
/// Source: the Engine.IO protocol. Revision 3: `<length>:<packet>…`. Revision 4: packets separated by U+001E.
package enum EngineIOPayload {
  /// The format of a body, which both directions of a connection share.
  package enum Format: Sendable, Hashable {
    case lengths
    case separators
  }

  /// The most packets that common servers accept in one request.
  package static let maximumPackets = 16

  /// Splits a body, of which the format is found by its beginning: no packet begins with digits and a colon.
  package static func parse(_ body: String) throws(SocketIOParseError) -> (packets: [String], format: Format) {
    let digits = body.utf8.prefix(9).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty, body.utf8[digits.endIndex...].first == UInt8(ascii: ":") else {
      // Bytes, because some texts outside ASCII take seconds to divide into characters.
      return (body.utf8.split(separator: 0x1E).map { String(Substring($0)) }, .separators)
    }
    // Servers count bytes, UTF-16 code units or characters: the counting by which all lengths fit is the right one.
    if let packets = packets(Array(body.utf8), colon: 0x3A, text: { String(decoding: $0, as: UTF8.self) })
      ?? packets(Array(body.utf16), colon: 0x3A, text: { String(decoding: $0, as: UTF16.self) })
      ?? packets(
        Array(body.unicodeScalars), colon: ":",
        text: { scalars in
          var text = String.UnicodeScalarView()
          text.append(contentsOf: scalars)
          return String(text)
        })
    {
      return (packets, .lengths)
    }
    throw .invalidPayload(bytes: body.utf8.count)
  }

  /// Splits a body by its lengths; nil if they do not fit.
  private static func packets<Unit: Equatable>(
    _ units: [Unit], colon: Unit, text: (ArraySlice<Unit>) -> String
  ) -> [String]? {
    var packets: [String] = []
    var rest = units[...]
    while !rest.isEmpty {
      let digits = rest.prefix(9).prefix { $0 != colon }
      guard let length = Int(text(digits)), length > 0 else { return nil }
      rest = rest[digits.endIndex...]
      guard rest.first == colon, rest.count - 1 >= length else { return nil }
      rest = rest.dropFirst()
      packets.append(text(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return packets
  }

  /// Joins packets. They must be ASCII, because servers count their characters differently.
  package static func encode(_ packets: some Sequence<String>, as format: Format) -> String {
    switch format {
    case .lengths: packets.map { "\($0.utf8.count):\($0)" }.joined()
    case .separators: packets.joined(separator: "\u{1E}")
    }
  }
}
