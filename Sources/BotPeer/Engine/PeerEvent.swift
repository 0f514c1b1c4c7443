public import Media

/// What happens between us and one participant.
public enum PeerEvent: Sendable, Hashable {
  /// To be carried to the participant.
  case signal(SignallingMessage)
  case stateChanged(ConnectionState)
  /// What the participant sends.
  case media(MediaEvent)
  /// The participant needs a keyframe of what we send.
  case keyframeRequested
  /// Something of theirs was refused and nothing else happened; one sentence.
  case problem(String)
  /// The connection is over; nothing follows.
  case ended(PeerEnding)
}
