/// One media section: an `m=` line and all lines up to the next one (RFC 8866, 5.14).
package struct MediaSection: Sendable, Hashable, AttributeLines {
  package var mediaLine: MediaLine
  /// The line break of the `m=` line.
  package var ending: Line.Ending
  /// The lines after the `m=` line.
  package var lines: [Line]

  package init(_ mediaLine: MediaLine, ending: Line.Ending = .carriageReturnLineFeed, lines: [Line] = []) {
    self.mediaLine = mediaLine
    self.ending = ending
    self.lines = lines
  }

  /// The section's identifier in the session (RFC 5888), by which bundles and candidates refer to it. Nil without one,
  /// or if it has more than ``MediaLine/maximumNameLength`` bytes.
  package var mid: String? {
    attribute("mid").map { $0.trimmed }.flatMap { $0.utf8.count <= MediaLine.maximumNameLength ? $0 : nil }
  }

  func write(into text: inout String) {
    text += "m=\(mediaLine.text)\(ending.rawValue)"
    for line in lines {
      line.write(into: &text)
    }
  }
}

/// An `m=` line (RFC 8866, 5.14), stored as it was written.
package struct MediaLine: Sendable, Hashable {
  /// The whole value of the line, for example `audio 9 UDP/TLS/RTP/SAVPF 111 63`.
  package let text: String
  /// `audio`, `video`, `application` or anything else.
  package let kind: String
  /// 0 in a rejected section, and in one that exists only as part of a bundle (RFC 9143, 6).
  package let port: UInt16
  /// The transport protocol, for example `UDP/TLS/RTP/SAVPF`.
  package let transportProtocol: String
  /// The formats; for RTP the payload types, in order of preference.
  package let formats: [String]

  package init(kind: String, port: UInt16, transportProtocol: String, formats: [String]) {
    self.kind = kind
    self.port = port
    self.transportProtocol = transportProtocol
    self.formats = formats
    text = ([kind, String(port), transportProtocol] + formats).joined(separator: " ")
  }

  /// The maximum number of bytes of a kind, a protocol and a format; in practice they have at most 20.
  package static let maximumNameLength = 64

  /// Parses the value of the line; nil unless it is ASCII and has a kind, a port, a protocol and at least one format, each no longer
  /// than ``maximumNameLength``.
  package init?(parsing text: String) {
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let fields = text.fields()
    guard fields.count >= 4, fields.allSatisfy({ $0.utf8.count <= Self.maximumNameLength }) else { return nil }
    // A port may be followed by a number of ports, as in "9/2".
    let number = fields[1].cut(at: "/")?.before ?? fields[1]
    guard number.isDecimal, let port = UInt16(number) else { return nil }
    self.text = text
    kind = fields[0]
    self.port = port
    transportProtocol = fields[2]
    formats = Array(fields[3...])
  }
}
