internal import Media

/// The kind of an ICE candidate, as a check reports it.
public enum CandidateKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// An address of the host itself.
  case host
  /// A host address hidden behind an mDNS name that ends in `.local`.
  case mdns
  /// The address that a STUN server saw (server reflexive).
  case srflx
  /// The address that the remote peer saw (peer reflexive).
  case prflx
  /// An address on a TURN server.
  case relay
  /// Any candidate that does not use UDP.
  case tcp
  /// A candidate that could not be parsed.
  case other

  /// Parses the kind of a candidate, trickled or from a description (RFC 8839, 5.1), with or without `a=`.
  package init(candidate line: String) {
    guard line.utf8.count <= Self.maximumBytes else {
      self = .other
      return
    }
    let words = line.split { " \r\n".contains($0) || $0 == "\r\n" }
    guard words.count >= 8, let position = words.firstIndex(of: "typ"), position + 1 < words.count else {
      self = .other
      return
    }
    if words[2].lowercased() != "udp" {
      self = .tcp
    } else if words[4].lowercased().hasSuffix(".local") {
      self = .mdns
    } else {
      self = [Self.host, .srflx, .prflx, .relay].first { $0.rawValue == words[position + 1] } ?? .other
    }
  }

  private static let maximumBytes = 1_024

  /// Returns the kinds of all candidates in a session description.
  package static func all(in description: String) -> [CandidateKind] {
    if description.utf8.hasRunOutsideASCII(over: 64) { return [] }
    return description.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
      .filter { $0.hasPrefix("a=candidate:") }
      .map { CandidateKind(candidate: String($0)) }
  }
}
