public import Media

/// Anything that a check is told of a peer.
public enum CheckEvent: Sendable, Hashable {
  case step(CallStep)
  /// A frame of the peer, in decoding order within its track.
  case frame(EncodedFrame)
  /// The peer's clock at a media time.
  case clock(ClockReport)
  case sample(ConnectionSample)
  /// Pictures of the peer that came before the next one and will not be told.
  case leftOut(LeftOutPictures)
}
