internal import Media
package import Signalling

/// What the server sends on one WebRTC connection of a feed, in a form that peers expect: one session id in all offers, and
/// candidates after the first offer only. At most 64 candidates wait for it; further ones are dropped.
package struct JanusOffers: Sendable {
  /// The second field of the origin line of the first offer.
  private var sessionID: String?
  private var isOffered = false
  /// Candidates that came before the offer, which Janus sends first with full trickle.
  private var early: [TrickledCandidate] = []

  private static let maximumEarlyCandidates = 64

  package init() {}

  /// Returns the messages for an offer: the offer, and the candidates that came before it.
  ///
  /// Janus gives each offer of a connection a new session id, where only the version may change (RFC 3264, 8). A peer
  /// that follows the RFC would take an ICE restart for another connection, so the first id is kept.
  ///
  /// - Parameter descriptions: what the publisher says of streams, by `mid`. SDP says it in `a=content` (RFC 4796), where the peer
  ///   finds it.
  package mutating func received(offer sdp: String, descriptions: [String: String] = [:]) -> [SignallingMessage] {
    let origin = Self.sessionIDRange(in: sdp)
    var sdp = sdp
    if let origin {
      if let sessionID { sdp.replaceSubrange(origin, with: sessionID) } else { sessionID = String(sdp[origin]) }
    }
    if !descriptions.isEmpty { sdp = Self.adding(descriptions, to: sdp) }
    isOffered = true
    defer { early = [] }
    return [.offer(sdp)] + early.map { .candidate($0) }
  }

  private static func adding(_ descriptions: [String: String], to sdp: String) -> String {
    var lines: [Substring.UTF8View] = []
    for line in sdp.utf8.split(separator: UInt8(ascii: "\n")) {
      lines.append(line)
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      guard text.starts(with: "a=mid:".utf8), let mid = UntrustedText(validating: text.dropFirst(6))?.ascii,
        let description = descriptions[mid]
      else { continue }
      lines.append("a=content:\(description.printable(utf8Bytes: 100))\r"[...].utf8)
    }
    return lines.reduce(into: "") { $0 += String(Substring($1)) + "\n" }
  }

  /// Returns the candidate, or nil if it is kept until the offer.
  package mutating func received(_ candidate: TrickledCandidate) -> SignallingMessage? {
    if isOffered { return .candidate(candidate) }
    if early.count < Self.maximumEarlyCandidates { early.append(candidate) }
    return nil
  }

  /// Returns the place of the session id: `o=<username> <session id> <version> …` (RFC 8866, 5.2).
  private static func sessionIDRange(in sdp: String) -> Range<String.Index>? {
    // Bytes, because some texts outside ASCII take seconds to divide into characters and compare.
    let lines = sdp.utf8.split { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    guard let line = lines.first(where: { $0.starts(with: "o=".utf8) }) else { return nil }
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 6, omittingEmptySubsequences: false)
    guard fields.count == 6, !fields[1].isEmpty else { return nil }
    return fields[1].startIndex..<fields[1].endIndex
  }
}
