/// The lines of a session description (RFC 8866, 5), divided into its media sections. Pure.
///
/// WHIP carries descriptions unchanged. It reads only ICE credentials, fingerprints and mids.
package struct SDPOutline: Sendable {
  /// One media section: its `m=` line and the lines after it.
  package struct Section: Sendable {
    /// For example `audio`.
    package var kind: Substring
    package var lines: [Substring]

    package var mid: Substring? { SDPOutline.value("a=mid:", in: lines) }
    /// The values of the candidate attributes, for example `candidate:1 1 udp …`.
    package var candidates: [Substring] {
      lines.filter { $0.hasPrefix("a=candidate:") }.map { $0.dropFirst(2) }
    }
  }

  /// The maximum number of consecutive bytes outside ASCII in a text of the other side, as in `SessionDescription`:
  /// longer runs of combining marks take seconds to compare.
  package static let maximumRunOutsideASCII = 64

  /// The lines before the first media section.
  package var session: [Substring] = []
  package var sections: [Section] = []

  package init(_ sdp: String) {
    for line in Self.lines(of: sdp) {
      if line.hasPrefix("m=") {
        sections.append(Section(kind: line.dropFirst(2).prefix { $0 != " " }, lines: [line]))
      } else if sections.isEmpty {
        session.append(line)
      } else {
        sections[sections.count - 1].lines.append(line)
      }
    }
  }

  /// The ICE user name fragment and password of the first section that has them, or of the session (RFC 8839, 5.4).
  package var credentials: ICECredentials? {
    for lines in sections.map(\.lines) + [session] {
      if let found = ICECredentials(lines: lines) { return found }
    }
    return nil
  }

  /// All fingerprints, sorted. They name the DTLS certificate (RFC 8122, 5).
  package var fingerprints: [String] {
    let all = ([session] + sections.map(\.lines)).joined().filter { $0.hasPrefix("a=fingerprint:") }
    return Set(all.map { $0.lowercased() }).sorted()
  }

  /// Splits a text at LF or CRLF, without empty lines.
  static func lines(of text: String) -> [Substring] {
    text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
  }

  static func value(_ prefix: String, in lines: [Substring]) -> Substring? {
    lines.first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
  }
}

/// A user name fragment and a password of ICE (RFC 8445, 5.3).
package struct ICECredentials: Sendable, Hashable {
  package var usernameFragment: String
  package var password: String

  package init(usernameFragment: String, password: String) {
    self.usernameFragment = usernameFragment
    self.password = password
  }

  /// Reads both from the lines of a section; nil if one is absent or cannot be used.
  init?(lines: [Substring]) {
    guard let fragment = SDPOutline.value("a=ice-ufrag:", in: lines), Self.isUsable(fragment),
      let password = SDPOutline.value("a=ice-pwd:", in: lines), Self.isUsable(password)
    else { return nil }
    self.init(usernameFragment: String(fragment), password: String(password))
  }

  /// Up to 256 printable characters (RFC 8839, 5.4); servers use more characters than the RFC allows.
  static func isUsable(_ text: Substring) -> Bool {
    (1...256).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
