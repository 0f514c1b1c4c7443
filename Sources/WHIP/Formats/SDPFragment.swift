import Media
package import Signalling

/// An SDP fragment: ICE credentials and candidates outside a session description (RFC 8840, 9), the body of a PATCH
/// request with the media type `application/trickle-ice-sdpfrag`. Pure.
///
/// Lines other than those of ICE are ignored.
package struct SDPFragment: Sendable, Hashable {
  /// The candidates of one media section.
  package struct Section: Sendable, Hashable {
    /// The `m=` line without its prefix, for example `audio 9 RTP/AVP 0`; only its first word has a meaning.
    package var media: String
    package var mid: String?
    /// The values of the candidate attributes, for example `candidate:1 1 udp 2122260223 10.0.0.1 5000 typ host`.
    package var candidates: [String] = []
    /// Whether no more candidates follow (RFC 8838, 13).
    package var hasEnded = false

    package init(media: String = "audio 9 RTP/AVP 0", mid: String?) {
      self.media = media
      self.mid = mid
    }
  }

  /// Why a text is not a fragment.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLarge(limit: Int)
    case notASCII(limit: Int)
    case notALine(number: Int)
    case invalidCredentials
    case tooManyCandidates(limit: Int)
    case empty

    package var description: String {
      switch self {
      case .tooLarge(let limit): "An SDP fragment is larger than \(limit) bytes."
      case .notASCII(let limit): "An SDP fragment has more than \(limit) bytes in a row that are not ASCII."
      case .notALine(let number): "Line \(number) of an SDP fragment does not have the form type=value."
      case .invalidCredentials:
        "An SDP fragment has an ICE user name fragment or a password, but not both in valid form."
      case .tooManyCandidates(let limit): "An SDP fragment has more than \(limit) candidates."
      case .empty: "An SDP fragment has neither ICE credentials nor candidates."
      }
    }
  }

  /// The maximum size of the ICE options in bytes.
  private static let maximumOptionBytes = 256

  package static let mediaType = "application/trickle-ice-sdpfrag"
  package static let maximumBytes = 64 * 1024
  package static let maximumCandidates = 256

  /// The credentials of all sections. With a new value the fragment restarts ICE.
  package var credentials: ICECredentials?
  /// The value of `a=ice-options`, for example `trickle` (RFC 8839, 5.6). A restart has it again (RFC 9725, 4.3.3).
  package var options: String?
  package var sections: [Section]

  package init(credentials: ICECredentials?, options: String? = nil, sections: [Section] = []) {
    self.credentials = credentials
    self.options = options
    self.sections = sections
  }

  package init(parsing text: String) throws(ParseError) {
    guard text.utf8.count <= Self.maximumBytes else { throw .tooLarge(limit: Self.maximumBytes) }
    guard !text.utf8.hasRunOutsideASCII(over: SDPOutline.maximumRunOutsideASCII) else {
      throw .notASCII(limit: SDPOutline.maximumRunOutsideASCII)
    }
    var sections: [Section] = []
    // Lines before the first "m=" line belong to the session.
    var current = Section(media: "", mid: nil)
    var isInSession = true
    var fragment: Substring?
    var password: Substring?
    var candidateCount = 0
    for (index, line) in SDPOutline.lines(of: text).enumerated() {
      let bytes = line.utf8
      guard bytes.count >= 2, bytes.dropFirst().first == UInt8(ascii: "=") else { throw .notALine(number: index + 1) }
      if line.hasPrefix("m=") {
        guard bytes.count > 2 else { throw .notALine(number: index + 1) }
        if !isInSession || !current.candidates.isEmpty || current.hasEnded { sections.append(current) }
        current = Section(media: String(line.dropFirst(2)), mid: nil)
        isInSession = false
      } else if line.hasPrefix("a=mid:") {
        current.mid = String(line.dropFirst(6))
      } else if line.hasPrefix("a=candidate:") {
        candidateCount += 1
        guard candidateCount <= Self.maximumCandidates else { throw .tooManyCandidates(limit: Self.maximumCandidates) }
        current.candidates.append(String(line.dropFirst(2)))
      } else if line == "a=end-of-candidates" {
        current.hasEnded = true
      } else if line.hasPrefix("a=ice-ufrag:") {
        fragment = fragment ?? line.dropFirst(12)
      } else if line.hasPrefix("a=ice-pwd:") {
        password = password ?? line.dropFirst(10)
      } else if line.hasPrefix("a=ice-options:") {
        options = options ?? Self.usable(options: line.dropFirst(14))
      }
    }
    if !isInSession || !current.candidates.isEmpty || current.hasEnded { sections.append(current) }
    switch (fragment, password) {
    case (nil, nil): credentials = nil
    case (let fragment?, let password?) where ICECredentials.isUsable(fragment) && ICECredentials.isUsable(password):
      credentials = ICECredentials(usernameFragment: String(fragment), password: String(password))
    default: throw .invalidCredentials
    }
    self.sections = sections
    if credentials == nil && sections.allSatisfy({ $0.candidates.isEmpty && !$0.hasEnded }) { throw .empty }
  }

  /// Option names and spaces between them, or nil.
  private static func usable(options: Substring) -> String? {
    let isUsable =
      (1...maximumOptionBytes).contains(options.utf8.count)
      && options.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    return isUsable ? String(options) : nil
  }

  /// The text with CRLF line ends.
  package var text: String {
    var lines: [String] = []
    if let options { lines.append("a=ice-options:\(options)") }
    if let credentials {
      lines.append("a=ice-ufrag:\(credentials.usernameFragment)")
      lines.append("a=ice-pwd:\(credentials.password)")
    }
    for section in sections {
      if !section.media.isEmpty { lines.append("m=\(section.media)") }
      if let mid = section.mid { lines.append("a=mid:\(mid)") }
      lines += section.candidates.map { "a=\($0)" }
      if section.hasEnded { lines.append("a=end-of-candidates") }
    }
    return lines.map { $0 + "\r\n" }.joined()
  }

  /// All candidates as messages, and an empty one where a section has ended.
  package var trickled: [TrickledCandidate] {
    sections.flatMap { section in
      section.candidates.map { TrickledCandidate(candidate: $0, mid: section.mid) }
        + (section.hasEnded ? [TrickledCandidate(candidate: "", mid: section.mid)] : [])
    }
  }
}

extension SDPFragment {
  /// The fragment that restarts ICE as an offer says: its credentials and ICE options, and the candidates of its first
  /// section, which carries all media of the bundle (RFC 9725, 4.3.3).
  package init?(restartingWith offer: String) {
    let outline = SDPOutline(offer)
    guard let credentials = outline.credentials, let first = outline.sections.first else { return nil }
    var section = Section(media: "\(first.kind) 9 RTP/AVP 0", mid: first.mid.map(String.init))
    section.candidates = first.candidates.prefix(Self.maximumCandidates).map(String.init)
    section.hasEnded = first.lines.contains("a=end-of-candidates")
    // The session's options are those of every section (RFC 8839, 5.6).
    let options = SDPOutline.value("a=ice-options:", in: outline.session + first.lines)
    self.init(credentials: credentials, options: options.flatMap { Self.usable(options: $0) }, sections: [section])
  }

  /// The fragment that adds candidates to an offer. Candidates that the offer contains are left out; those of a section
  /// that is bundled belong to the first section. Nil if nothing is left.
  package init?(adding candidates: [TrickledCandidate], to offer: String) {
    let outline = SDPOutline(offer)
    guard let credentials = outline.credentials, let first = outline.sections.first else { return nil }
    var known = Set(outline.sections.flatMap(\.candidates).map(String.init))
    var section = Section(media: "\(first.kind) 9 RTP/AVP 0", mid: first.mid.map(String.init))
    for candidate in candidates {
      let text = candidate.candidate.hasPrefix("a=") ? String(candidate.candidate.dropFirst(2)) : candidate.candidate
      if text.isEmpty {
        section.hasEnded = true
      } else if text.hasPrefix("candidate:"), !text.contains(where: \.isNewline), known.insert(text).inserted,
        section.candidates.count < Self.maximumCandidates
      {
        section.candidates.append(text)
      }
    }
    if section.candidates.isEmpty && !section.hasEnded { return nil }
    self.init(credentials: credentials, sections: [section])
  }
}
