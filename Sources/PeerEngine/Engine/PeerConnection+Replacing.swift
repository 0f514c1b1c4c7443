internal import SDP

/// When another connection of the participant, or of somebody else under the same id, needs an engine of its own.
///
/// A description with another certificate belongs to another `RTCPeerConnection`. If the signalling verifies that it is the same
/// participant's, the existing engine handles it and restarts ICE and DTLS, so that a recording continues. Otherwise another
/// certificate means another recording: media of somebody else belongs in no recording of the participant.
extension PeerConnection {
  /// Returns whether an offer can only be answered by a new engine.
  ///
  /// That is also so where the participant presents the same certificate as before, because then nothing indicates that
  /// DTLS restarts, and where we await the answer to an offer of ours that takes precedence, because the old connection
  /// cannot answer it any more.
  package func needsNewEngine(forOffer sdp: String) -> Bool {
    guard let remoteConnection, let later = RemoteConnectionIdentity(sdp), remoteConnection.isReplaced(by: later) else {
      return false
    }
    return isIdentityUncertain || remoteConnection.hasCertificate(of: later)
      || negotiator.isAwaitingAnswer && !negotiator.isPolite
  }

  /// Returns whether an answer must not be used by this engine. It cannot be used by a new one either, because it belongs to
  /// this engine's offer: the new engine has to offer.
  package func needsNewEngine(forAnswer sdp: String) -> Bool {
    guard isIdentityUncertain, let remoteConnection, let later = RemoteConnectionIdentity(sdp),
      !remoteConnection.hasCertificate(of: later)
    else { return false }
    // An answer that has no effect ends nothing.
    var negotiator = negotiator
    return (try? negotiator.receivedAnswer(sdp)) != nil
  }

  /// Whether an offer of ours must come from a new engine: the participant has left, and a participant announced under the id now
  /// may be somebody else.
  package var needsNewEngineToOffer: Bool { timing.leftRoom != nil && isIdentityUncertain }

  /// The reason with which a call ends if a description needs a new engine.
  var endingForNewConnection: CloseReason {
    isIdentityUncertain
      ? CloseReason(
        .connectionLost,
        "A new connection arrived under this id, and the server does not verify that it is the same participant.",
        isReplaced: true)
      : CloseReason(.closedByParticipant, "The participant has begun a new connection.", isReplaced: true)
  }

  /// The reason with which a call ends if an offer of ours needs a new engine.
  static let endingForNewOffer = CloseReason(.closedByParticipant, "The participant left the room.", isReplaced: true)
}

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
