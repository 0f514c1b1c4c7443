internal import SDP

/// By what one `RTCPeerConnection` of a participant is told from the next: a page may close one and make another, and continue
/// under the same name in the room.
struct RemoteConnectionIdentity: Sendable, Hashable {
  /// The second field of the origin line, which all descriptions of a connection should share (RFC 8866, 5.2). aiortc makes a
  /// new one for each description, so by itself it says nothing.
  private let sessionID: String?
  private let usernameFragments: Set<String>
  private let fingerprints: Set<String>

  /// - Returns: nil if the description cannot be read, or says too little.
  init?(_ sdp: String) {
    guard let description = try? RemoteDescription(parsing: sdp) else { return nil }
    let transports = description.sections.map(\.transport)
    sessionID = description.origin?.sessionID
    usernameFragments = Set(transports.compactMap(\.usernameFragment))
    fingerprints = Set(transports.flatMap(\.fingerprints).map { $0.lowercased() })
    if usernameFragments.isEmpty || fingerprints.isEmpty { return nil }
  }

  /// Whether a later description comes from another connection than this one.
  ///
  /// ICE credentials alone change with a restart; a certificate, and the session's id, are a connection's for life.
  func isReplaced(by later: RemoteConnectionIdentity) -> Bool {
    usernameFragments.isDisjoint(with: later.usernameFragments)
      && (!hasCertificate(of: later) || sessionID != later.sessionID)
  }

  /// Whether both show the same certificate, as connections of a page that keeps its certificate do.
  func hasCertificate(of other: RemoteConnectionIdentity) -> Bool {
    !fingerprints.isDisjoint(with: other.fingerprints)
  }
}
