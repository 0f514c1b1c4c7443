package import Signalling

/// The lines of a session description that signalling acts on (RFC 8866). The peer parses the rest.
package enum SessionDescriptionLines {
  /// The first `a=ice-ufrag` (RFC 8839, 5.4).
  package static func usernameFragment(of sdp: String) -> String? {
    for line in sdp.split(whereSeparator: \.isNewline) where line.hasPrefix("a=ice-ufrag:") {
      let text = line.dropFirst("a=ice-ufrag:".count)
      return text.isEmpty || text.utf8.count > 256 ? nil : String(text)
    }
    return nil
  }

  /// The candidates of all media sections, each once, that of the highest priority first; at most `limit`.
  package static func candidates(of sdp: String, limit: Int = 64) -> [TrickledCandidate] {
    var mids: [Int: String] = [:]
    var found: [(text: Substring, section: Int)] = []
    var seen: Set<Substring> = []
    var section = -1
    for line in sdp.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("m=") {
        section += 1
      } else if line.hasPrefix("a=mid:") {
        mids[section] = String(line.dropFirst("a=mid:".count))
      } else if line.hasPrefix("a=candidate:") {
        let text = line.dropFirst("a=".count)
        if seen.insert(text).inserted { found.append((text, max(0, section))) }
      }
    }
    let fragment = usernameFragment(of: sdp)
    let sorted = found.map { entry in
      TrickledCandidate(
        candidate: CandidateText.naming(fragment, in: String(entry.text)), mid: mids[entry.section],
        mLineIndex: entry.section)
    }
    .sorted { CandidateText.priority(of: $0.candidate) > CandidateText.priority(of: $1.candidate) }
    return Array(sorted.prefix(limit))
  }
}
