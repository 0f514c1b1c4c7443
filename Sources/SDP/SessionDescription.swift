internal import Media

/// A session description (RFC 8866): the session's own lines and its media sections.
///
/// Every line is kept, so that a parsed description is written back byte for byte. The typed values of this module
/// parse the lines that matter; a line that they cannot parse counts as absent, as in browsers.
///
/// Left out on purpose: repeat times, time zones, `b=`, `k=`, encryption by `a=crypto` (RFC 8827 forbids it), H.264 and
/// VP9 parameters, `a=imageattr`, bundles of other semantics than `BUNDLE`, the data channel's lines. They are kept as
/// text.
package struct SessionDescription: Sendable, Hashable, AttributeLines {
  /// The lines before the first `m=` line.
  package var lines: [Line]
  /// The media sections in order; their index identifies them in all later offers (RFC 3264, 8).
  package var sections: [MediaSection]

  package init(lines: [Line] = [], sections: [MediaSection] = []) {
    self.lines = lines
    self.sections = sections
  }

  /// The maximum size of a description in bytes.
  package static let maximumLength = 256 * 1024
  /// The maximum number of media sections.
  package static let maximumSections = 64
  /// The maximum number of lines.
  package static let maximumLines = 10_000
  /// The maximum size of a line in bytes.
  package static let maximumLineLength = 8 * 1024
  /// The maximum number of candidates (`a=candidate`) in a section.
  package static let maximumCandidates = 200
  /// The maximum number of streams (`a=rid`) in a section.
  package static let maximumStreams = 64
  /// The maximum number of formats in a section; a payload type has seven bits.
  package static let maximumFormats = 128

  /// The maximum number of consecutive bytes that are not ASCII: only user-defined names contain any.
  package static let maximumRunOutsideASCII = 64

  /// Parses a description. Lines may end in CR LF or in LF alone.
  package init(parsing text: String) throws(ParseError) {
    let bytes = text.utf8
    guard bytes.count <= Self.maximumLength else { throw .tooLong(bytes: bytes.count) }
    guard !bytes.isEmpty else { throw .empty }
    self.init()

    var start = bytes.startIndex
    var number = 0
    var counts = Counts()
    while start < bytes.endIndex {
      number += 1
      guard number <= Self.maximumLines else { throw .tooMany("lines", limit: Self.maximumLines, number: number) }
      let (line, next) = Self.line(of: text, from: start)
      let length = bytes.distance(from: start, to: next)
      guard length <= Self.maximumLineLength else { throw .lineTooLong(number: number, bytes: length) }
      guard !bytes[start..<next].hasRunOutsideASCII(over: Self.maximumRunOutsideASCII) else {
        throw .notASCII(number: number)
      }
      start = next
      guard let line else { throw .notALine(number: number) }
      try counts.count(line, number: number)
      try add(line, number: number)
    }
  }

  /// Counts of limited attributes in the current section.
  private struct Counts {
    var candidates = 0
    var streams = 0

    mutating func count(_ line: Line, number: Int) throws(ParseError) {
      switch line.content {
      case .other("m", _):
        self = Counts()
      case .attribute("candidate", _):
        candidates += 1
        guard candidates <= SessionDescription.maximumCandidates else {
          throw .tooMany("candidates in a section", limit: SessionDescription.maximumCandidates, number: number)
        }
      case .attribute("rid", _):
        streams += 1
        guard streams <= SessionDescription.maximumStreams else {
          throw .tooMany("rid lines in a section", limit: SessionDescription.maximumStreams, number: number)
        }
      case .attribute, .other, .blank:
        break
      }
    }
  }

  /// Returns the line that begins at `start`, nil if it is malformed, and the start of the next line.
  private static func line(of text: String, from start: String.Index) -> (line: Line?, next: String.Index) {
    let bytes = text.utf8
    guard let feed = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else {
      return (Line(parsing: text[start...], ending: .none), bytes.endIndex)
    }
    let next = bytes.index(after: feed)
    if feed > start {
      let before = bytes.index(before: feed)
      if bytes[before] == UInt8(ascii: "\r") {
        return (Line(parsing: text[start..<before], ending: .carriageReturnLineFeed), next)
      }
    }
    return (Line(parsing: text[start..<feed], ending: .lineFeed), next)
  }

  private mutating func add(_ line: Line, number: Int) throws(ParseError) {
    if number == 1 {
      guard case .other("v", let value) = line.content else { throw .notALine(number: 1) }
      guard value.trimmed.utf8.elementsEqual("0".utf8) else { throw .unknownVersion(value) }
    }
    if case .other("m", let value) = line.content {
      guard let mediaLine = MediaLine(parsing: value) else { throw .badMediaLine(number: number) }
      guard mediaLine.formats.count <= Self.maximumFormats else {
        throw .tooMany("formats in a media section", limit: Self.maximumFormats, number: number)
      }
      guard sections.count < Self.maximumSections else { throw .tooManySections }
      sections.append(MediaSection(mediaLine, ending: line.ending))
    } else if sections.isEmpty {
      lines.append(line)
    } else {
      sections[sections.count - 1].lines.append(line)
    }
  }

  /// The description as text.
  package var text: String {
    var text = ""
    for line in lines {
      line.write(into: &text)
    }
    for section in sections {
      section.write(into: &text)
    }
    return text
  }
}

/// The `o=` line: the creator and the version of the description (RFC 8866, 5.2).
package struct Origin: Sendable, Hashable {
  package var user: String
  package var sessionID: String
  package var version: String
  /// Network type, address type and address, for example `IN IP4 127.0.0.1`.
  package var address: String

  package init(user: String = "-", sessionID: String, version: String, address: String = "IN IP4 127.0.0.1") {
    self.user = user
    self.sessionID = sessionID
    self.version = version
    self.address = address
  }

  package init?(parsing text: String) {
    let fields = text.fields(maximum: 4)
    // A user name may be any text, but the session is known by numbers.
    guard fields.count == 4, fields[1].utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    self.init(user: fields[0], sessionID: fields[1], version: fields[2], address: fields[3])
  }

  package var text: String { "\(user) \(sessionID) \(version) \(address)" }
}

extension SessionDescription {
  /// The bundles: for each the mids of the sections that share one transport (RFC 9143, 7). The first mid names the
  /// section of its transport.
  package var bundles: [[String]] {
    attributes("group").compactMap { value in
      let fields = value.fields()
      return fields.first == "BUNDLE" ? Array(fields.dropFirst()) : nil
    }
  }

  /// The `o=` line.
  package var origin: Origin? {
    for line in lines {
      if case .other("o", let value) = line.content { return Origin(parsing: value) }
    }
    return nil
  }
}

extension SessionDescription {
  /// An error in the text of a session description.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case tooLong(bytes: Int)
    /// Line numbers start at 1.
    case notALine(number: Int)
    case unknownVersion(String)
    case badMediaLine(number: Int)
    case tooManySections
    case lineTooLong(number: Int, bytes: Int)
    case notASCII(number: Int)
    /// The line with that number exceeds the limit.
    case tooMany(String, limit: Int, number: Int)

    package var description: String {
      switch self {
      case .empty:
        "The SDP is empty."
      case .tooLong(let bytes):
        "The SDP has \(bytes) bytes, but at most \(SessionDescription.maximumLength) are read."
      case .notALine(number: 1):
        "This is not an SDP: its first line is not \"v=0\"."
      case .notALine(let number):
        "Line \(number) of the SDP is not of the form \"x=value\"."
      case .unknownVersion(let version):
        "The SDP has version \"\(version.prefix(utf8Bytes: 20))\", but only version 0 exists."
      case .badMediaLine(let number):
        "Line \(number) of the SDP begins a media section, but lacks a kind, a port, a protocol or a format."
      case .tooManySections:
        "The SDP has more than \(SessionDescription.maximumSections) media sections."
      case .lineTooLong(let number, let bytes):
        "Line \(number) of the SDP has \(bytes) bytes, but at most \(SessionDescription.maximumLineLength) are read."
      case .notASCII(let number):
        "Line \(number) of the SDP has more than \(SessionDescription.maximumRunOutsideASCII) bytes in a row that are not ASCII."
      case .tooMany(let what, let limit, let number):
        "The SDP has more than \(limit) \(what), see line \(number)."
      }
    }
  }
}
