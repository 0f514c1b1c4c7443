internal import Media

/// What kind of address an ICE candidate is.
public enum CandidateKind: String, Sendable, Hashable, Codable, CaseIterable {
  /// An address of its own.
  case host
  /// A host's address behind a name that ends in `.local` (mDNS).
  case mdns
  /// The address that a STUN server saw.
  case srflx
  /// The address that the other side saw.
  case prflx
  /// The address of a TURN server.
  case relay
  /// Any that is not UDP.
  case tcp
  /// One that is not understood.
  case other

  /// Reads the kind of a candidate, as it is trickled or as it stands in a description (RFC 8839, 5.1), with or without `a=`.
  public init(candidate line: String) {
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

  /// The kinds of all candidates in a session description.
  public static func all(in description: String) -> [CandidateKind] {
    if description.utf8.hasRunOutsideASCII(over: 64) { return [] }
    return description.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
      .filter { $0.hasPrefix("a=candidate:") }
      .map { CandidateKind(candidate: String($0)) }
  }
}
