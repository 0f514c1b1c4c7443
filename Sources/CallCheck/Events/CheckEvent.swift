public import Media

/// Anything that a check is told of a peer.
public enum CheckEvent: Sendable, Hashable {
  case step(CallStep)
  /// A frame of the peer, in decoding order within its track.
  case frame(EncodedFrame)
  /// The peer's clock at a media time.
  case clock(ClockReport)
  case sample(ConnectionSample)
  /// Frames of the peer that came before the next one and will not be told.
  case leftOut(SkippedFrames)
}

/// Something that happened on the way to a call, or at its end.
public enum CallStep: Sendable, Hashable {
  /// The peer was seen in the room, or its call began by its offer.
  case seen
  case offerSent
  case offerReceived
  case answerSent
  case answerReceived
  /// A candidate of ours, or of the peer: each, whether it stood in a description or came by itself.
  case localCandidate(CandidateKind)
  case remoteCandidate(CandidateKind)
  /// Our first ICE check was sent.
  case checksBegun
  /// One of our ICE checks was answered.
  case checkAnswered
  case iceConnected
  /// ICE and DTLS are done: media can flow.
  case dtlsConnected
  /// A packet of media came.
  case firstPacket
  /// The peer is gone, with one sentence about it.
  case gone(PeerReport.Departure.Cause, String)
}
