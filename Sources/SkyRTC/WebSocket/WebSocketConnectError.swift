/// Why a WebSocket could not be opened.
public enum WebSocketConnectError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No TCP connection was established.
  case unreachable(WebSocketURL, reason: String)
  /// The TLS handshake failed.
  case notTrusted(WebSocketURL, reason: String)
  /// The trusted certificates cannot be read.
  case noCertificates(file: String, reason: String)
  /// The server answered the upgrade request with another status than 101.
  case refused(WebSocketURL, status: UInt, phrase: String)
  /// The server's answer is not one of a WebSocket server.
  case notAWebSocket(WebSocketURL, reason: String)
  case timedOut(WebSocketURL, after: Duration)

  public var description: String {
    switch self {
    case .unreachable(let url, let reason):
      "\(url) cannot be reached: \(reason)."
    case .notTrusted(let url, let reason):
      "The TLS handshake with \(url) failed: \(reason)."
    case .noCertificates(let file, let reason):
      "The certificates in \(file) cannot be read: \(reason)."
    case .refused(let url, let status, let phrase):
      "\(url) answered \"\(status) \(phrase.printable())\" instead of opening a WebSocket."
    case .notAWebSocket(let url, let reason):
      "\(url) did not answer as a WebSocket server does: \(reason)."
    case .timedOut(let url, let limit):
      "\(url) did not open a WebSocket within \(limit)."
    }
  }
}
