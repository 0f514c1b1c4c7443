extension SkyRTCServer {
  /// Where a started server is reached.
  public struct Address: Sendable, Hashable {
    public var host: String
    public var port: Int
    public var isSecure: Bool

    /// What a client connects to, for example `ws://127.0.0.1:3000`.
    public var webSocketURL: String { "\(isSecure ? "wss" : "ws")://\(authority)" }

    /// What a person opens, for example `http://localhost:3000/`. A room is added as a fragment: `#100`.
    public var pageURL: String { "\(isSecure ? "https" : "http")://\(authority)/" }

    /// An unspecified address is no place to go to, so localhost stands in for it.
    private var authority: String {
      switch host {
      case "0.0.0.0", "::": "localhost:\(port)"
      case let host where host.contains(":"): "[\(host)]:\(port)"
      default: "\(host):\(port)"
      }
    }
  }
}
