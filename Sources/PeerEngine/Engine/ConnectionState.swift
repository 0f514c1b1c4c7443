/// How far the connection to one participant has come; the words are those of `RTCPeerConnectionState`.
public enum ConnectionState: String, Sendable, Hashable {
  /// Nothing has been sent.
  case new
  /// Offer, answer, ICE or DTLS are under way.
  case connecting
  /// Media can flow both ways.
  case connected
  /// Nothing has been heard for some seconds; it may come back.
  case disconnected
  /// It could not be made, or was lost for good.
  case failed
  /// It has been ended by either side.
  case closed
}
