public import Media

/// Anything that a check is told of a peer.
public enum CheckEvent: Sendable, Hashable {
  case step(CallStep)
  /// A frame of the peer, in decoding order within its track.
  case frame(EncodedFrame)
  /// The peer's clock at a media time.
  case clock(ClockReport)
  case sample(ConnectionSample)
}
