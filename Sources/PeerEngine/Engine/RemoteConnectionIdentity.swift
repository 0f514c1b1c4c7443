internal import SDP

/// What distinguishes one `RTCPeerConnection` of a participant from the next: a page may close one, make another, and
/// continue under the same id in the room.
struct RemoteConnectionIdentity: Sendable, Hashable {
  /// The second field of the origin line, which all descriptions of a connection should share (RFC 8866, 5.2). aiortc makes
  /// a new one for each description, so by itself it identifies nothing.
  private let sessionID: String?
  private let usernameFragments: Set<String>
  /// Those that DTLS would accept.
  private let fingerprints: Set<CertificateFingerprint>

  /// - Returns: Nil if the description cannot be parsed, or lacks credentials or a fingerprint.
  init?(_ sdp: String) {
    guard let description = try? RemoteDescription(parsing: sdp) else { return nil }
    let transports = description.sections.map(\.transport)
    sessionID = description.origin?.sessionID
    usernameFragments = Set(transports.compactMap(\.usernameFragment))
    fingerprints = Set(transports.flatMap { (try? $0.certificateFingerprints()) ?? [] })
    if usernameFragments.isEmpty || fingerprints.isEmpty { return nil }
  }

  /// Returns whether a later description belongs to another connection than this one.
  ///
  /// ICE credentials alone change with an ICE restart; a certificate and a session id last as long as the connection.
  func isReplaced(by later: RemoteConnectionIdentity) -> Bool {
    !hasCertificate(of: later)
      || usernameFragments.isDisjoint(with: later.usernameFragments) && sessionID != later.sessionID
  }

  /// Returns whether both have the same certificate, as connections of a page that keeps its certificate do.
  ///
  /// A description may name several certificates (RFC 8122, 5). One that names an unknown certificate beside the known one
  /// admits somebody else, so it does not count as the same.
  func hasCertificate(of later: RemoteConnectionIdentity) -> Bool {
    fingerprints.isSuperset(of: later.fingerprints)
  }
}
