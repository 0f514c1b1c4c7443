public import Media

/// What happens between us and one participant.
public enum PeerEvent: Sendable, Hashable {
  /// To be carried to the participant.
  case signal(SignallingMessage)
  case stateChanged(ConnectionState)
  /// A step on the way to a connection was taken for the first time.
  case reached(ConnectionMilestone)
  /// What the participant sends.
  case media(MediaEvent)
  /// The participant needs a keyframe of what we send.
  case keyframeRequested
  /// What the line to the participant takes, of all that we send, in bits a second (RTP headers included, what is sent again
  /// not), and the share of packets that is lost, 0 to 1. Told when it has changed by a twentieth: at once when it has fallen,
  /// else ten times a second at most.
  case targetBitrate(Int, fractionLost: Double)
  /// Something of theirs was refused and nothing else happened; one sentence.
  case problem(String)
  /// The connection is over; nothing follows.
  case ended(PeerEnding)
}
