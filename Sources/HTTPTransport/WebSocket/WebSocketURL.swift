import FoundationEssentials

/// A `ws:` or `wss:` URL (RFC 6455, 3).
public struct WebSocketURL: Sendable, Hashable, CustomStringConvertible {
  public var isSecure: Bool
  /// A name or an IP address; an IPv6 address without its brackets.
  public var host: String
  public var port: Int
  /// The percent-encoded path and query, beginning with a slash.
  public var target: String

  /// Why a text is not a WebSocket URL.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case notAnAddress(String)
    case wrongScheme(String, in: String)
    case noHost(String)
    case wrongPort(String, in: String)
    case userInfo(String)
    case fragment(String)

    public var description: String {
      switch self {
      case .notAnAddress(let text):
        "\"\(text)\" is not a WebSocket address such as ws://localhost:3000."
      case .wrongScheme(let scheme, let text):
        "\"\(text)\" begins with \"\(scheme):\", but a WebSocket address begins with \"ws:\" or \"wss:\"."
      case .noHost(let text):
        "\"\(text)\" names no host; a WebSocket address looks like ws://localhost:3000."
      case .wrongPort(let port, let text):
        "\"\(text)\" has the port \(port), but ports go from 1 to 65535."
      case .userInfo(let text):
        "\"\(text)\" holds a user name, which WebSocket addresses here cannot have."
      case .fragment(let text):
        "\"\(text)\" ends with a fragment (#), which a WebSocket address cannot have; a room has its own option."
      }
    }
  }

  public init(_ text: String) throws(ParseError) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
      throw .notAnAddress(text)
    }
    switch scheme {
    case "ws": isSecure = false
    case "wss": isSecure = true
    default: throw text.contains("://") ? .wrongScheme(scheme, in: text) : .notAnAddress(text)
    }
    guard let host = parts.percentEncodedHost, !host.isEmpty, host != "[]" else { throw .noHost(text) }
    if parts.user != nil || parts.password != nil { throw .userInfo(text) }
    if parts.fragment != nil { throw .fragment(text) }
    self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    // Foundation treats a port that is too large as missing.
    let written = Self.port(writtenIn: text)
    port = parts.port ?? (isSecure ? 443 : 80)
    guard (1...65535).contains(port), written.isEmpty || Int(written) == port else {
      throw .wrongPort(String(written), in: text)
    }
    let path = parts.percentEncodedPath
    target = (path.hasPrefix("/") ? path : "/" + path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
  }

  /// Returns the text after the host's colon; empty without a port.
  private static func port(writtenIn text: String) -> Substring {
    guard let start = text.firstRange(of: "://")?.upperBound else { return "" }
    let authority = text[start...].prefix { !"/?#".contains($0) }
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return "" }
    return authority[colon...].dropFirst()
  }

  /// The `Host` header, without the scheme's default port (RFC 6455, 4.1).
  public var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// The same address with TLS instead of without it, or the reverse.
  var withOtherSecurity: WebSocketURL {
    var other = self
    other.isSecure.toggle()
    return other
  }

  public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(target == "/" ? "" : target)" }
}
