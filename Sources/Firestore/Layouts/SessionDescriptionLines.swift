package import Signalling

/// The lines of a session description that signalling acts on (RFC 8866). The peer parses the rest.
package enum SessionDescriptionLines {
  /// The first `a=ice-ufrag` (RFC 8839, 5.4).
  package static func usernameFragment(of sdp: String) -> String? {
    for line in lines(of: sdp) {
      guard let text = value("a=ice-ufrag:", of: line) else { continue }
      return text.isEmpty || text.utf8.count > 256 ? nil : text
    }
    return nil
  }

  private static func lines(of sdp: String) -> [Substring.UTF8View] {
    sdp[...].utf8.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
  }

  /// Returns what follows a prefix; nil for a line that has another one, or is not ASCII, as all that is read here is.
  private static func value(_ prefix: String, of line: Substring.UTF8View) -> String? {
    guard line.starts(with: prefix.utf8), line.allSatisfy({ $0 < 0x80 }) else { return nil }
    return String(Substring(line.dropFirst(prefix.utf8.count)))
  }

  /// The candidates of all media sections, each once, that of the highest priority first; at most `limit`.
  package static func candidates(of sdp: String, limit: Int = 64) -> [TrickledCandidate] {
    var mids: [Int: String] = [:]
    var found: [(text: String, section: Int)] = []
    var seen: Set<String> = []
    var section = -1
    for line in lines(of: sdp) {
      if line.starts(with: "m=".utf8) {
        section += 1
      } else if let mid = value("a=mid:", of: line) {
        mids[section] = mid
      } else if let candidate = value("a=candidate:", of: line) {
        let text = "candidate:" + candidate
        if seen.insert(text).inserted { found.append((text, max(0, section))) }
      }
    }
    let fragment = usernameFragment(of: sdp)
    let sorted = found.map { entry in
      TrickledCandidate(
        candidate: CandidateText.naming(fragment, in: entry.text), mid: mids[entry.section],
        mLineIndex: entry.section)
    }
    .sorted { CandidateText.priority(of: $0.candidate) > CandidateText.priority(of: $1.candidate) }
    return Array(sorted.prefix(limit))
  }
}
