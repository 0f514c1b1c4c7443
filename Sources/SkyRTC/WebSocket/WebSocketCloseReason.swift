/// How a WebSocket came to its end.
package enum WebSocketCloseReason: Sendable, Hashable, CustomStringConvertible {
  /// We closed it, with this code (RFC 6455, 7.4) and reason.
  case closedHere(code: UInt16, reason: String)
  /// The other side closed it; without a code when it gave none.
  case closedThere(code: UInt16?, reason: String)
  /// The other side was silent for so long, even after a ping.
  case silent(Duration)
  /// The other side reads too slowly: so many bytes waited to be sent.
  case slow(waitingBytes: Int)
  /// The TCP connection ended without a close frame.
  case broken(String)

  package var description: String {
    switch self {
    case .closedHere(let code, let reason):
      "The connection was closed from here with code \(code)\(Self.tail(reason))"
    case .closedThere(let code?, let reason):
      "The other side closed the connection with code \(code)\(Self.tail(reason))"
    case .closedThere(nil, let reason):
      "The other side closed the connection\(Self.tail(reason))"
    case .silent(let duration):
      "The other side was silent for \(duration) and answered no ping."
    case .slow(let bytes):
      "The other side reads too slowly: \(bytes) bytes waited to be sent."
    case .broken(let reason):
      "The connection broke\(Self.tail(reason))"
    }
  }

  private static func tail(_ reason: String) -> String {
    if reason.isEmpty { return "." }
    let reason = reason.printable()
    return reason.hasSuffix(".") ? ": \(reason)" : ": \(reason)."
  }
}
