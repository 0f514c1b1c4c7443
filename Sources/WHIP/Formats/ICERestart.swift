/// ICE restarts of a session that cannot be negotiated again (RFC 9725, 4.3.3). Pure.
package enum ICERestart {
  /// Whether a new offer differs from the previous one only as an ICE restart does: other credentials, but the same
  /// certificate and the same media sections.
  package static func isRestart(from old: String, to new: String) -> Bool {
    let (old, new) = (SDPOutline(old), SDPOutline(new))
    guard let before = old.credentials, let after = new.credentials, before != after else { return false }
    return old.hasSameMedia(as: new)
  }

  /// Whether a new description belongs to the same ICE session and certificate with the same media sections as the
  /// previous one, so that the previous answer answers it too.
  package static func isRepetition(of old: String, by new: String) -> Bool {
    if old == new { return true }
    let (old, new) = (SDPOutline(old), SDPOutline(new))
    return old.credentials != nil && old.credentials == new.credentials && old.hasSameMedia(as: new)
  }

  /// The answer that corresponds to a server's offer which we answered: the offer with a definite setup role
  /// (RFC 8842, 5.3).
  package static func answer(fromOffer offer: String, answeredBy ours: String) -> String {
    let role = SDPOutline.lines(of: ours).contains("a=setup:active") ? "passive" : "active"
    return SDPOutline.lines(of: offer).map { ($0 == "a=setup:actpass" ? "a=setup:\(role)" : $0) + "\r\n" }.joined()
  }

  /// The answer to the offer of a restart: the previous answer with the credentials that the server sent, its
  /// candidates if it sent any, and the next version.
  ///
  /// Nil if the fragment has no credentials or the answer has none that could be replaced.
  package static func answer(from old: String, fragment: SDPFragment) -> String? {
    guard let credentials = fragment.credentials, SDPOutline(old).credentials != nil else { return nil }
    let candidates = fragment.sections.flatMap(\.candidates)
    var lines: [String] = []
    var isInFirstSection = false
    var isComplete = candidates.isEmpty
    for line in SDPOutline.lines(of: old) {
      if line.hasPrefix("m=") {
        if isInFirstSection && !isComplete {
          lines += candidates.map { "a=\($0)" }
          isComplete = true
        }
        isInFirstSection = true
      }
      if line.hasPrefix("o=") {
        lines.append(incrementingVersion(of: line))
      } else if line.hasPrefix("a=ice-ufrag:") {
        lines.append("a=ice-ufrag:\(credentials.usernameFragment)")
      } else if line.hasPrefix("a=ice-pwd:") {
        lines.append("a=ice-pwd:\(credentials.password)")
      } else if line.hasPrefix("a=candidate:") {
        if candidates.isEmpty { lines.append(withoutFragment(line)) }
      } else if line == "a=end-of-candidates" {
        if candidates.isEmpty { lines.append(String(line)) }
      } else {
        lines.append(String(line))
      }
    }
    if isInFirstSection && !isComplete { lines += candidates.map { "a=\($0)" } }
    return lines.map { $0 + "\r\n" }.joined()
  }

  /// `o=- 1 1 IN IP4 127.0.0.1`: the third value is the version (RFC 8866, 5.2).
  private static func incrementingVersion(of line: Substring) -> String {
    var words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count > 2, let version = UInt64(words[2]), version < UInt64(Int64.max) else { return String(line) }
    words[2] = "\(version + 1)"
    return words.joined(separator: " ")
  }

  /// Removes the extension `ufrag`, which names the previous credentials (RFC 8839, 5.1).
  private static func withoutFragment(_ line: Substring) -> String {
    var words = line.split(separator: " ").map(String.init)
    if let index = words.firstIndex(of: "ufrag"), words.indices.contains(index + 1) {
      words.removeSubrange(index...(index + 1))
    }
    return words.joined(separator: " ")
  }
}

extension SDPOutline {
  /// Whether the certificate and the media sections are the same.
  fileprivate func hasSameMedia(as other: SDPOutline) -> Bool {
    fingerprints == other.fingerprints && sections.map(\.mid) == other.sections.map(\.mid)
      && sections.map(\.kind) == other.sections.map(\.kind)
  }
}
