import HTTPTransport
import SkyRTC

/// SkyRTC's JSON messages in both directions, and the URLs of its servers.
enum SignallingTargets {
  static func skyrtc(_ input: [UInt8]) throws(InvariantViolation) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    switch Result(catching: { () throws(SignallingError) in try ClientMessage(parsing: text) }) {
    case .success(let request):
      try require((try? ClientMessage(parsing: request.text)) == request, "A client message does not round-trip.")
    case .failure(let error):
      try require(error.description.utf8.count < 300, "An error message has \(error.description.utf8.count) bytes.")
    }
    if let message = try? ServerMessage(parsing: text) {
      try require((try? ServerMessage(parsing: message.text)) == message, "A server message does not round-trip.")
    }
    if let url = try? WebSocketURL(text) {
      try require((1...65_535).contains(url.port), "A URL has the port \(url.port).")
      try require((try? WebSocketURL(url.description)) == url, "The URL \(url) does not round-trip.")
    }
  }
}
