import SkyRTC

/// SkyRTC's JSON, both ways, and the addresses of its servers.
enum SignallingTargets {
  static func skyrtc(_ input: [UInt8]) throws(BrokenPromise) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    switch Result(catching: { () throws(SignallingError) in try ClientMessage(parsing: text) }) {
    case .success(let request):
      try promise((try? ClientMessage(parsing: request.text)) == request, "A request comes back otherwise.")
    case .failure(let error):
      try promise(error.description.utf8.count < 300, "A refusal is as long as \(error.description.utf8.count) bytes.")
    }
    if let notice = try? ServerMessage(parsing: text) {
      try promise((try? ServerMessage(parsing: notice.text)) == notice, "A notice comes back otherwise.")
    }
    if let url = try? WebSocketURL(text) {
      try promise((1...65_535).contains(url.port), "A URL has the port \(url.port).")
      try promise((try? WebSocketURL(url.description)) == url, "The URL \(url) comes back otherwise.")
    }
  }
}
