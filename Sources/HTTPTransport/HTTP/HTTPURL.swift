import FoundationEssentials
import Media

/// An `http:` or `https:` URL (RFC 9110, 4.2).
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  public var isSecure: Bool
  /// A name or an IP address; an IPv6 address without its brackets.
  public var host: String
  public var port: Int
  /// The percent-encoded path and query, beginning with a slash.
  public var target: String

  /// Why a text is not an HTTP URL.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case notAnAddress(String)
    case userInfo

    public var description: String {
      switch self {
      case .notAnAddress(let text):
        "\"\(text.printable())\" is not an HTTP address such as https://example.org/whip/room."
      case .userInfo:
        "An HTTP address contains a user name or a password, which belongs into a file."
      }
    }
  }

  private static let maximumBytes = 8_192

  /// Parses an absolute URL. A fragment is removed, because it is never sent (RFC 9110, 4.2.5).
  public init(_ text: String) throws(ParseError) {
    guard text.utf8.count <= Self.maximumBytes, let parts = URLComponents(string: text),
      let scheme = parts.scheme?.lowercased(),
      scheme == "http" || scheme == "https", let host = parts.percentEncodedHost, !host.isEmpty
    else { throw .notAnAddress(text) }
    if parts.user != nil || parts.password != nil { throw .userInfo }
    isSecure = scheme == "https"
    self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    if self.host.isEmpty { throw .notAnAddress(text) }
    port = parts.port ?? (isSecure ? 443 : 80)
    guard (1...65_535).contains(port) else { throw .notAnAddress(text) }
    let path = parts.percentEncodedPath
    target = (path.hasPrefix("/") ? path : "/" + path) + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    // Percent-encoding makes a text longer.
    guard description.utf8.count <= Self.maximumBytes else { throw .notAnAddress(text) }
  }

  /// Resolves a reference, as in a `Location` header (RFC 3986, 5.2): an absolute URL, an absolute path, or a path
  /// relative to this URL.
  public func resolving(_ reference: String) throws(ParseError) -> HTTPURL {
    // FoundationEssentials does not accept the empty reference, which is the URL itself (RFC 3986, 5.4.1).
    if reference.isEmpty { return self }
    guard reference.utf8.count <= Self.maximumBytes, let base = URL(string: description),
      let url = URL(string: reference, relativeTo: base)
    else { throw .notAnAddress(reference) }
    return try HTTPURL(url.absoluteString)
  }

  /// The `Host` header, without the scheme's default port.
  public var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }

  /// The path without the query.
  public var path: String { String(target.prefix { $0 != "?" }) }

  /// Whether both URLs have the same scheme, host and port (RFC 6454, 5). Credentials are sent only to the same origin.
  public func hasSameOrigin(as other: HTTPURL) -> Bool {
    isSecure == other.isSecure && host.lowercased() == other.host.lowercased() && port == other.port
  }

  /// Whether this is the same host over TLS, at the default port, as a server without TLS redirects to it.
  package func isUpgrade(of other: HTTPURL) -> Bool {
    isSecure && !other.isSecure && host.lowercased() == other.host.lowercased() && port == 443
  }

  /// The same address with TLS instead of without it, or the reverse.
  var withOtherSecurity: HTTPURL {
    var other = self
    other.isSecure.toggle()
    return other
  }

  public var description: String { "\(isSecure ? "https" : "http")://\(authority)\(target)" }
}
