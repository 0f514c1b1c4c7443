/// A step on the way to a connection, told once when it is first taken.
public enum ConnectionMilestone: String, Sendable, Hashable, CaseIterable {
  /// Our first ICE check was sent (RFC 8445, 7.2.4).
  case checksBegun
  /// One of our ICE checks was answered with success.
  case checkAnswered
  /// There is a pair of addresses that works both ways.
  case iceConnected
  /// The first authentic RTP packet came.
  case firstPacket
}
