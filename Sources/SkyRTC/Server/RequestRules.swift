import FoundationEssentials
import Media
import NIOHTTP1

/// Which requests a server answers. Pure.
///
/// A web page may open a WebSocket to any server that its visitor reaches, a server on the visitor's own machine included. What
/// it cannot do is hide where it comes from: browsers name its origin (RFC 6455, 10.2). Programs name none.
struct RequestRules: Sendable {
  /// Why a request is not answered.
  struct Rejection: Sendable, Hashable {
    /// The HTTP status: 400, 403 or 421.
    var status: Int
    var reason: String
  }

  /// The hosts that a request may name; nil for any. A server for one machine takes no others, because a stranger's name may
  /// lead to it as well (DNS rebinding).
  private let hosts: Set<String>?
  private let origins: Set<String>

  /// - Parameters:
  ///   - host: where the server listens.
  ///   - allowedOrigins: origins that may join besides the server's own, for example `https://example.org`; `*` for all.
  init(host: String, allowedOrigins: [String]) {
    origins = Set(allowedOrigins.map { $0.lowercased() })
    guard Self.isLoopback(host) else {
      hosts = nil
      return
    }
    hosts = Set(origins.compactMap { Self.authority(ofOrigin: $0).map { Self.hostname(of: $0.authority) } })
  }

  func rejection(of head: HTTPRequestHead) -> Rejection? {
    for name in ["Host", "Origin", "Upgrade", "Connection", "Sec-WebSocket-Version"]
    where head.headers[name].contains(where: { $0.utf8.hasRunOutsideASCII(over: 0) }) {
      return Rejection(status: 400, reason: "The \(name) header is not ASCII.")
    }
    let named = head.headers["host"]
    guard named.count == 1 || head.version.minor == 0 && named.isEmpty else {
      return Rejection(status: 400, reason: "A request needs one Host header, but this one has \(named.count).")
    }
    if let hosts, let host = named.first.map(Self.hostname), !Self.isLoopback(host), !hosts.contains(host) {
      return Rejection(
        status: 421, reason: "This server is for its own machine, but the request is for \(Self.short(host)).")
    }
    guard head.headers.contains(name: "upgrade") else { return nil }
    return rejection(ofUpgrade: head, host: named.first)
  }

  private func rejection(ofUpgrade head: HTTPRequestHead, host: String?) -> Rejection? {
    guard head.version.major == 1, head.version.minor >= 1, let host else {
      return Rejection(status: 400, reason: "A WebSocket needs HTTP/1.1 and a Host header (RFC 6455, 4.1).")
    }
    let keys = head.headers[canonicalForm: "sec-websocket-key"]
    guard keys.count == 1, Data(base64Encoded: String(keys[0]))?.count == 16 else {
      return Rejection(status: 400, reason: "Sec-WebSocket-Key must be 16 bytes in Base64 (RFC 6455, 4.1).")
    }
    let named = head.headers["origin"]
    guard let origin = named.first?.lowercased() else { return nil }
    if origins.contains("*") { return nil }
    if named.count == 1, origins.contains(origin) || Self.isSame(origin: origin, host: host) { return nil }
    return Rejection(
      status: 403,
      reason: "Pages of \(Self.short(origin)) may not join here. The option --allow-origin lets them.")
  }

  // MARK: Hosts and origins

  /// Whether a page of that origin came from the host that the request names. The scheme may differ: a proxy may have ended TLS.
  private static func isSame(origin: String, host: String) -> Bool {
    guard let (authority, port) = authority(ofOrigin: origin) else { return false }
    return withPort(authority, port) == withPort(host.lowercased(), port)
  }

  /// The host and port of an origin, and the port that its scheme has by default; nil if it is no origin of a page.
  private static func authority(ofOrigin origin: String) -> (authority: String, port: String)? {
    if origin.hasPrefix("https://") { return (String(origin.dropFirst(8)), "443") }
    if origin.hasPrefix("http://") { return (String(origin.dropFirst(7)), "80") }
    return nil
  }

  private static func withPort(_ authority: String, _ port: String) -> String {
    hostname(of: authority).utf8.count == authority.utf8.count ? "\(authority):\(port)" : authority
  }

  /// A host and port without the port.
  private static func hostname(of authority: String) -> String {
    let text = authority.lowercased()
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[...end]) }
    return text.lastIndex(of: ":").map { String(text[..<$0]) } ?? text
  }

  private static func isLoopback(_ host: String) -> Bool {
    var name = host.lowercased()[...]
    while name.first == "." { name.removeFirst() }
    while name.last == "." { name.removeLast() }
    let digits = name.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 = digits.count == 4 && digits[0] == "127" && digits.allSatisfy { UInt8($0) != nil }
    return isIPv4 || name == "localhost" || name.hasSuffix(".localhost") || name == "::1" || name == "[::1]"
  }

  private static func short(_ text: String) -> String { String(text.printable().prefix(80)) }
}
