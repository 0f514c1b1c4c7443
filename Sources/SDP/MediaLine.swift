/// An `m=` line (RFC 8866, 5.14), kept as it was written.
package struct MediaLine: Sendable, Hashable {
  /// The whole value of the line, for example `audio 9 UDP/TLS/RTP/SAVPF 111 63`.
  package let text: String
  /// `audio`, `video`, `application` or anything else.
  package let kind: String
  /// 0 in a refused section, and in one that exists only as part of a bundle (RFC 9143, 6).
  package let port: UInt16
  /// The transport protocol, for example `UDP/TLS/RTP/SAVPF`.
  package let transportProtocol: String
  /// For RTP the payload types, most wanted first.
  package let formats: [String]

  package init(kind: String, port: UInt16, transportProtocol: String, formats: [String]) {
    self.kind = kind
    self.port = port
    self.transportProtocol = transportProtocol
    self.formats = formats
    text = ([kind, String(port), transportProtocol] + formats).joined(separator: " ")
  }

  /// The most bytes of a kind, a protocol and a format; what is used in practice has at most 20.
  package static let maximumNameLength = 64

  /// Reads the line's value; nil unless it has a kind, a port, a protocol and one format at least, each of a name's length.
  package init?(parsing text: String) {
    let fields = text.fields()
    guard fields.count >= 4, fields.allSatisfy({ $0.utf8.count <= Self.maximumNameLength }) else { return nil }
    // A port may be followed by a count of ports, as in "9/2".
    let number = fields[1].cut(at: "/")?.before ?? fields[1]
    guard number.isDecimal, let port = UInt16(number) else { return nil }
    self.text = text
    kind = fields[0]
    self.port = port
    transportProtocol = fields[2]
    formats = Array(fields[3...])
  }
}
