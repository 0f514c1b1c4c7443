/// The address of an ICE server: `stun:host[:port]` (RFC 7064), `turn:host[:port][?transport=udp|tcp]` or
/// `turns:host[:port][?transport=tcp]` (RFC 7065).
///
/// A user name and a password may precede the host of a TURN server: `turn:user:password@host`. Characters such as `:`
/// and `@` in them are written as `%3A` and `%40`. Both never appear in `description` or in an error.
package struct ICEServerURL: Sendable, CustomStringConvertible {
  package enum Kind: String, Sendable, Hashable {
    case stun
    case turn
  }

  /// How the server is reached.
  package enum Transport: Sendable, Hashable {
    case udp
    case tcp
    /// TLS over TCP.
    case tls
  }

  package let kind: Kind
  package let transport: Transport
  /// A DNS name or an IP address, IPv6 without brackets.
  package let host: String
  package let port: UInt16
  /// Those in the URL, or nil.
  package let credentials: TURNCredentials?

  package static let defaultPort: UInt16 = 3478
  /// The port of `turns:`.
  package static let defaultTLSPort: UInt16 = 5349

  /// A STUN server.
  package init(host: String, port: UInt16 = ICEServerURL.defaultPort) {
    self.init(kind: .stun, transport: .udp, host: host, port: port, credentials: nil)
  }

  /// - Parameter port: the default port of the scheme if it is nil.
  package init(kind: Kind, transport: Transport, host: String, port: UInt16? = nil, credentials: TURNCredentials?) {
    self.kind = kind
    self.transport = transport
    self.host = host
    self.port = port ?? (transport == .tls ? Self.defaultTLSPort : Self.defaultPort)
    self.credentials = credentials
  }

  private var scheme: String { transport == .tls ? "turns" : kind.rawValue }

  /// The URL without credentials, and without the port and the transport if they are the default.
  package var description: String {
    let shown = host.contains(":") ? "[\(host)]" : host
    let isDefault = port == (transport == .tls ? Self.defaultTLSPort : Self.defaultPort)
    return "\(scheme):\(shown)\(isDefault ? "" : ":\(port)")\(transport == .tcp ? "?transport=tcp" : "")"
  }
}

/// URLs are equal if they name the same server by the same transport, whatever their credentials.
extension ICEServerURL: Hashable {
  package static func == (left: ICEServerURL, right: ICEServerURL) -> Bool {
    left.kind == right.kind && left.transport == right.transport && left.host == right.host && left.port == right.port
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(transport)
    hasher.combine(host)
    hasher.combine(port)
  }
}

extension ICEServerURL {
  /// An error in the URL of a server.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case noScheme(String)
    case unsupportedScheme(String)
    case slashes(String)
    case unexpectedQuery(String)
    case badTransport(scheme: String, query: String)
    case unexpectedCredentials
    case badCredentials
    case badHost(String)
    case badPort(String)

    package var description: String {
      switch self {
      case .noScheme(let text):
        "An ICE server URL has the form stun:host or stun:host:port, but \"\(text)\" has no scheme."
      case .unsupportedScheme(let scheme):
        "Only stun:, turn: and turns: servers are supported, but this one is \(scheme):."
      case .slashes(let text):
        "An ICE server URL has the form stun:host, without slashes, but this one is \"\(text)\"."
      case .unexpectedQuery(let query):
        "A stun: URL has no parameters, but this one has \"?\(query)\"."
      case .badTransport("turns", let query):
        "A turns: URL has no parameter but ?transport=tcp (TLS over TCP), but this one has \"?\(query)\"."
      case .badTransport(let scheme, let query):
        "A \(scheme): URL has no parameter but ?transport=udp or ?transport=tcp, but this one has \"?\(query)\"."
      case .unexpectedCredentials:
        "A stun: URL has no user name and password: a STUN server needs none."
      case .badCredentials:
        "The part before @ has the form user:password, in which %3A stands for a colon, %40 for @ and %25 for %."
      case .badHost(let host):
        "\"\(host)\" is neither a host name nor an IP address (an IPv6 address needs brackets)."
      case .badPort(let port):
        "A port is a number from 1 to 65535, but this one is \"\(port)\"."
      }
    }
  }

  package init(parsing text: String) throws(ParseError) {
    guard let colon = text.firstIndex(of: ":") else { throw .noScheme(Self.withoutCredentials(text)) }
    let scheme = text[..<colon].lowercased()
    switch scheme {
    case "stun", "turn", "turns": break
    case "stuns": throw .unsupportedScheme(scheme)
    default: throw .noScheme(Self.withoutCredentials(text))  // `example.org:3478`
    }
    let isTURN = scheme != "stun"
    var rest = text[text.index(after: colon)...]
    if rest.hasPrefix("//") { throw .slashes(Self.withoutCredentials(text)) }

    var credentials: TURNCredentials?
    if let end = rest.lastIndex(of: "@") {
      guard isTURN else { throw .unexpectedCredentials }
      credentials = try Self.credentials(rest[..<end])
      rest = rest[rest.index(after: end)...]
    }
    var transport = scheme == "turns" ? Transport.tls : .udp
    if let mark = rest.firstIndex(of: "?") {
      let query = rest[rest.index(after: mark)...]
      guard isTURN else { throw .unexpectedQuery(String(query)) }
      transport = try Self.transport(query, scheme: scheme)
      rest = rest[..<mark]
    }
    let (host, afterHost) = try Self.host(rest)
    self.init(
      kind: isTURN ? .turn : .stun, transport: transport, host: host, port: try Self.port(afterHost),
      credentials: credentials)
  }

  /// Parses the host at the start, and returns it and the text after it.
  private static func host(_ text: Substring) throws(ParseError) -> (host: String, rest: Substring) {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      let host = text[text.index(after: text.startIndex)..<end]
      guard case .v6? = IPAddress(host) else { throw .badHost(String(host)) }
      return (String(host), text[text.index(after: end)...])
    }
    let end = text.firstIndex(of: ":") ?? text.endIndex
    if text[end...].dropFirst().contains(":") { throw .badHost(String(text)) }
    guard isName(text[..<end]) else { throw .badHost(String(text[..<end])) }
    return (String(text[..<end]), text[end...])
  }

  /// Parses the text after the host: nothing, or a colon and a number.
  private static func port(_ rest: Substring) throws(ParseError) -> UInt16? {
    if rest.isEmpty { return nil }
    let digits = rest.dropFirst()
    guard rest.first == ":", digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits), port > 0
    else { throw .badPort(String(rest.first == ":" ? digits : rest)) }
    return port
  }

  private static func transport(_ query: Substring, scheme: String) throws(ParseError) -> Transport {
    switch (scheme, query.lowercased()) {
    case ("turns", "transport=tcp"): return .tls
    case ("turn", "transport=udp"): return .udp
    case ("turn", "transport=tcp"): return .tcp
    default: throw .badTransport(scheme: scheme, query: String(query))
    }
  }

  private static func credentials(_ text: Substring) throws(ParseError) -> TURNCredentials {
    guard let colon = text.firstIndex(of: ":"), let username = percentDecoded(text[..<colon]), !username.isEmpty,
      let password = percentDecoded(text[text.index(after: colon)...])
    else { throw .badCredentials }
    return TURNCredentials(username: username, password: password)
  }

  /// Nil if a percent sign is not followed by two hexadecimal digits, or if the bytes are not UTF-8.
  private static func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-"),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// Returns a text for an error sentence: what precedes the last @ may have a password.
  private static func withoutCredentials(_ text: String) -> String {
    text.lastIndex(of: "@").map { "…\(text[$0...])" } ?? text
  }

  private static func isName(_ host: Substring) -> Bool {
    guard (1...253).contains(host.utf8.count), host.first != ".", host.first != "-" else { return false }
    return host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-" || $0 == "_") }
  }
}
