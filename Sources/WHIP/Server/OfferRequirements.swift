import Media

/// What an offer to a WHIP or WHEP endpoint must contain (RFC 9725, 4.4). Pure.
///
/// The setup role may be any that leads to an association: `actpass` as RFC 9725, 4.4.4 recommends, `active`, or
/// `passive`, which FFmpeg offers (RFC 8842, 5.2); then we are the DTLS client.
package enum OfferRequirements {
  /// Why an offer cannot be accepted.
  package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
    // The description is malformed.
    case notADescription
    case noCredentials
    case noFingerprint
    // The description is valid, but not allowed here.
    case tooManySections(kind: String)
    case notAudioOrVideo(kind: String)
    case notBundled
    case noRTCPMultiplexing
    case severalStreams
    case direction(expected: String)
    case setup(String)

    /// Whether the description is malformed, rather than valid but not allowed.
    package var isMalformed: Bool {
      switch self {
      case .notADescription, .noCredentials, .noFingerprint: true
      default: false
      }
    }

    package var description: String {
      switch self {
      case .notADescription: "The body is not an SDP offer with a media section."
      case .noCredentials: "The offer has no ICE user name fragment and password."
      case .noFingerprint: "The offer has no fingerprint of a certificate."
      case .tooManySections(let kind):
        "The offer has more than one section of the kind \"\(kind.printable(utf8Bytes: 32))\"."
      case .notAudioOrVideo(let kind):
        "The offer has a section of the kind \"\(kind.printable(utf8Bytes: 32))\", which is neither audio nor video."
      case .notBundled: "The media sections of the offer are not in one BUNDLE group."
      case .noRTCPMultiplexing: "A media section of the offer has no rtcp-mux."
      case .severalStreams: "The offer has more than one media stream."
      case .direction(let expected): "No media section of the offer is \(expected) or sendrecv."
      case .setup(let role):
        "The setup role \"\(role.printable(utf8Bytes: 32))\" of the offer is not actpass, active or passive."
      }
    }
  }

  /// Checks an offer.
  ///
  /// - Parameter role: what the client does: it publishes or plays.
  package static func check(_ offer: String, of role: WHIPClient.Role) throws(Problem) {
    guard !offer.utf8.hasRunOutsideASCII(over: SDPOutline.maximumRunOutsideASCII) else { throw .notADescription }
    let outline = SDPOutline(offer)
    guard offer.hasPrefix("v=0"), !outline.sections.isEmpty else { throw .notADescription }
    if outline.credentials == nil { throw .noCredentials }
    if outline.fingerprints.isEmpty { throw .noFingerprint }
    let sections = outline.sections
    for kind in ["audio", "video"] where sections.count(where: { $0.kind == kind }) > 1 {
      throw .tooManySections(kind: kind)
    }
    if let other = sections.first(where: { $0.kind != "audio" && $0.kind != "video" && $0.kind != "application" }) {
      throw .notAudioOrVideo(kind: String(other.kind))
    }
    if sections.count > 1 {
      let bundle = Set(SDPOutline.value("a=group:BUNDLE ", in: outline.session)?.split(separator: " ") ?? [])
      guard sections.allSatisfy({ $0.mid.map(bundle.contains) ?? false }) else { throw .notBundled }
    }
    let media = sections.filter { $0.kind != "application" }
    guard media.allSatisfy({ $0.lines.contains { $0 == "a=rtcp-mux" || $0 == "a=rtcp-mux-only" } }) else {
      throw .noRTCPMultiplexing
    }
    let streams = media.compactMap { SDPOutline.value("a=msid:", in: $0.lines)?.split(separator: " ").first }
    if role == .publisher && Set(streams).count > 1 { throw .severalStreams }
    let expected = role == .publisher ? "a=sendonly" : "a=recvonly"
    // Without an attribute the direction is sendrecv (RFC 8866, 6.7).
    let others = role == .publisher ? ["a=recvonly", "a=inactive"] : ["a=sendonly", "a=inactive"]
    let lacksDirection = media.allSatisfy { section in section.lines.contains { others.contains(String($0)) } }
    if lacksDirection { throw .direction(expected: String(expected.dropFirst(2))) }
    for lines in sections.map(\.lines) + [outline.session] {
      if let role = SDPOutline.value("a=setup:", in: lines), !["actpass", "active", "passive"].contains(role) {
        throw .setup(String(role))
      }
    }
  }
}
