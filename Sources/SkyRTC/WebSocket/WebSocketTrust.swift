/// Whose certificates a `wss` connection believes.
public enum WebSocketTrust: Sendable, Hashable {
  /// The system's certificate authorities.
  case system
  /// The certificates of one PEM file, in place of the system's.
  case file(String)
  /// Anybody's. For tests only.
  case anyone
}
