import Media
import PeerEngine
import SDP
import TestSupport
import Testing

extension Negotiator {
  /// Returns a negotiator whose random numbers all come from a seed.
  static func seeded(
    _ seed: UInt64 = 1, sending: Set<MediaKind> = [.audio, .video], receiving: Set<MediaKind> = [.audio, .video],
    isPolite: Bool = true,
    candidates: [String] = ["candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host"],
    adjust: (inout TrackSettings) -> Void = { _ in }
  ) -> Negotiator {
    var generator = SeededGenerator(seed: seed)
    let fingerprint = CertificateFingerprint(
      algorithm: "sha-256", digest: (0..<32).map { $0 &+ UInt8(truncatingIfNeeded: seed) })
    var tracks = TrackSettings(sending: sending, receiving: receiving)
    adjust(&tracks)
    let local = LocalDescription(
      fingerprint: fingerprint, candidates: candidates, tracks: tracks, using: &generator)
    return Negotiator(local: local, isPolite: isPolite, generator: generator)
  }

  /// Answers an offer that must not be ignored.
  mutating func answer(to offer: String) throws -> (description: SessionDescription, session: NegotiatedSession) {
    let reply = try #require(try receivedOffer(offer))
    return (try SessionDescription(parsing: reply.answer), reply.session)
  }
}

/// Returns the text of a recorded description.
func recorded(_ name: String) throws -> String {
  try Fixture.text("sdp/\(name).sdp", in: .module)
}

extension String {
  /// Returns the text with every occurrence of `old` replaced; there must be at least one.
  func changing(_ old: String, to new: String) throws -> String {
    let parts = components(separatedBy: old)
    try #require(parts.count > 1, "The text does not contain \"\(old)\".")
    return parts.joined(separator: new)
  }

  private func components(separatedBy separator: String) -> [String] {
    var parts: [String] = []
    var rest = self[...]
    while let found = rest.firstRange(of: separator) {
      parts.append(String(rest[..<found.lowerBound]))
      rest = rest[found.upperBound...]
    }
    return parts + [String(rest)]
  }

  /// Returns the text without the lines that begin with one of the prefixes; there must be at least one such line.
  func without(_ prefixes: String...) throws -> String {
    let lines = split(separator: "\r\n", omittingEmptySubsequences: false)
    let kept = lines.filter { line in !prefixes.contains { line.hasPrefix($0) } }
    try #require(kept.count < lines.count, "No line begins with any of \(prefixes).")
    return kept.joined(separator: "\r\n")
  }
}

extension MediaSection {
  var payloads: [String] { mediaLine.formats }
}
