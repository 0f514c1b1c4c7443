/// The address of a STUN server: `stun:host[:port]` (RFC 7064).
package struct ICEServerURL: Sendable, Hashable, CustomStringConvertible {
  /// A DNS name or an IP address, IPv6 without brackets.
  package let host: String
  package let port: UInt16

  package static let defaultPort: UInt16 = 3478

  package init(host: String, port: UInt16 = ICEServerURL.defaultPort) {
    self.host = host
    self.port = port
  }

  /// The URL, without the port if it is the default.
  package var description: String {
    let shown = host.contains(":") ? "[\(host)]" : host
    return port == Self.defaultPort ? "stun:\(shown)" : "stun:\(shown):\(port)"
  }
}

extension ICEServerURL {
  /// An error in the URL of a server.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case noScheme(String)
    case unsupportedScheme(String)
    case slashes(String)
    case unexpectedQuery(String)
    case badHost(String)
    case badPort(String)

    package var description: String {
      switch self {
      case .noScheme(let text):
        "An ICE server URL has the form stun:host or stun:host:port, but \"\(text)\" has no scheme."
      case .unsupportedScheme(let scheme):
        "Only stun: servers are supported, but this one is \(scheme):."
      case .slashes(let text):
        "An ICE server URL has the form stun:host, without slashes, but this one is \"\(text)\"."
      case .unexpectedQuery(let query):
        "A stun: URL has no parameters, but this one has \"?\(query)\"."
      case .badHost(let host):
        "\"\(host)\" is neither a host name nor an IP address (an IPv6 address needs brackets)."
      case .badPort(let port):
        "A port is a number from 1 to 65535, but this one is \"\(port)\"."
      }
    }
  }

  package init(parsing text: String) throws(ParseError) {
    guard let colon = text.firstIndex(of: ":") else { throw .noScheme(text) }
    let scheme = text[..<colon].lowercased()
    switch scheme {
    case "stun": break
    case "stuns", "turn", "turns": throw .unsupportedScheme(scheme)
    default: throw .noScheme(text)  // `example.org:3478`
    }
    var rest = text[text.index(after: colon)...]
    if rest.hasPrefix("//") { throw .slashes(text) }
    if let query = rest.firstIndex(of: "?") { throw .unexpectedQuery(String(rest[rest.index(after: query)...])) }

    let host: Substring
    if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
      host = rest[rest.index(after: rest.startIndex)..<end]
      guard case .v6? = IPAddress(host) else { throw .badHost(String(host)) }
      rest = rest[rest.index(after: end)...]
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = rest[..<end]
      if rest[end...].dropFirst().contains(":") { throw .badHost(String(rest)) }
      guard Self.isName(host) else { throw .badHost(String(host)) }
      rest = rest[end...]
    }
    self.init(host: String(host), port: try Self.port(rest))
  }

  /// Parses the text after the host: nothing, or a colon and a number.
  private static func port(_ rest: Substring) throws(ParseError) -> UInt16 {
    if rest.isEmpty { return defaultPort }
    let digits = rest.dropFirst()
    guard rest.first == ":", digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits), port > 0
    else { throw .badPort(String(rest.first == ":" ? digits : rest)) }
    return port
  }

  private static func isName(_ host: Substring) -> Bool {
    guard (1...253).contains(host.utf8.count), host.first != ".", host.first != "-" else { return false }
    return host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_") }
  }
}
