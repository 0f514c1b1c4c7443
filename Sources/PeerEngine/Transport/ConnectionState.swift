/// A milestone of connecting, reported once, when it is first reached.
public enum ConnectionMilestone: String, Sendable, Hashable, CaseIterable {
  /// Our first ICE check was sent (RFC 8445, 7.2.4).
  case checksBegun
  /// One of our ICE checks was answered with success.
  case checkAnswered
  /// There is a pair of addresses that works in both directions.
  case iceConnected
  /// The first authentic RTP packet arrived.
  case firstPacket
}

/// The state of the connection to one participant, with the names of `RTCPeerConnectionState`.
public enum ConnectionState: String, Sendable, Hashable {
  /// Nothing has been sent.
  case new
  /// Offer, answer, ICE or DTLS are in progress.
  case connecting
  /// Media can flow in both directions.
  case connected
  /// Nothing has been received for some seconds; the connection may recover.
  case disconnected
  /// The connection could not be established, or was lost permanently.
  case failed
  /// Either side has ended the connection.
  case closed
}
