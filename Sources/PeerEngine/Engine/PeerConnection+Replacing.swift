/// When another connection of the participant, or of somebody else under the same id, needs an engine of its own.
///
/// A description with another certificate belongs to another `RTCPeerConnection`. If the signalling verifies that it is the same
/// participant's, the existing engine handles it and restarts ICE and DTLS, so that a recording continues. Otherwise another
/// certificate means another recording: media of somebody else belongs in no recording of the participant.
extension PeerConnection {
  /// Returns whether an offer can only be answered by a new engine.
  package func needsNewEngine(forOffer sdp: String) -> Bool { negotiation.needsNewEngine(forOffer: sdp) }

  /// Returns whether an answer must not be used by this engine; then a new engine has to offer.
  package func needsNewEngine(forAnswer sdp: String) -> Bool { negotiation.needsNewEngine(forAnswer: sdp) }

  /// Whether an offer of ours must come from a new engine: the participant has left, and a participant announced under the id now
  /// may be somebody else.
  package var needsNewEngineToOffer: Bool { leftRoom != nil && negotiation.isIdentityUncertain }

  /// The reason with which a call ends if a description needs a new engine.
  var endingForNewConnection: CloseReason {
    negotiation.isIdentityUncertain
      ? CloseReason(
        .connectionLost,
        "A new connection arrived under this id, and the server does not verify that it is the same participant.",
        isReplaced: true)
      : CloseReason(.closedByParticipant, "The participant has begun a new connection.", isReplaced: true)
  }

  /// The reason with which a call ends if an offer of ours needs a new engine.
  static let endingForNewOffer = CloseReason(.closedByParticipant, "The participant left the room.", isReplaced: true)
}
