import SkyRTC

/// Reads and changes ICE candidates as text, in descriptions and on their own (RFC 8839, 5.1).
enum CandidateText {
  /// The address and port of a candidate.
  struct Endpoint: Hashable, Sendable {
    var address: String
    var port: Int
  }

  /// Returns the address of a host candidate for RTP over UDP; nil for all other candidates.
  static func hostEndpoint(of candidate: String) -> Endpoint? {
    let words = words(of: candidate)
    guard words.count >= 8, words[1] == "1", words[2].lowercased() == "udp", words[7] == "host",
      let port = Int(words[5])
    else { return nil }
    return Endpoint(address: String(words[4]), port: port)
  }

  /// Returns the address and port of a host candidate that accepts TCP connections; nil for all other candidates.
  static func passiveEndpoint(of candidate: String) -> Endpoint? {
    let words = words(of: candidate)
    guard words.count >= 10, words[1] == "1", words[2].lowercased() == "tcp", words[7] == "host",
      words[8] == "tcptype", words[9] == "passive", let port = Int(words[5])
    else { return nil }
    return Endpoint(address: String(words[4]), port: port)
  }

  /// Returns the candidate with another address.
  static func moving(_ candidate: String, to position: Endpoint) -> String {
    var words = words(of: candidate)
    guard words.count >= 8 else { return candidate }
    words[4] = Substring(position.address)
    words[5] = "\(position.port)"
    return words.joined(separator: " ")
  }

  /// Returns the candidates of a description, in order, as they would be trickled.
  static func candidates(in description: String) -> [String] {
    lines(of: description).filter(isCandidate).map { String($0.dropFirst(2)) }
  }

  /// Returns the description with each candidate replaced, or removed where `replacement` returns nil.
  static func replacing(in description: String, _ replacement: (String) -> String?) -> String {
    lines(of: description).compactMap { line in
      isCandidate(line) ? replacement(String(line.dropFirst(2))).map { "a=\($0)" } : String(line)
    }.joined(separator: "\r\n")
  }

  private static func isCandidate(_ line: Substring) -> Bool { line.hasPrefix("a=candidate:") }

  /// Swift treats CR and LF together as one character.
  private static func lines(of description: String) -> [Substring] {
    description.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }
  }

  private static func words(of candidate: String) -> [Substring] { candidate.split(separator: " ") }
}
