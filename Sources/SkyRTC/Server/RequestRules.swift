import FoundationEssentials
import Media
import NIOCore
import NIOHTTP1

/// Decides which requests the server answers. Pure.
///
/// A web page may open a WebSocket to any server that its visitor can reach, including one on the visitor's own
/// machine. It cannot hide its origin: browsers send it (RFC 6455, 10.2). Programs send none.
struct RequestRules: Sendable {
  /// Why a request is rejected.
  struct Rejection: Sendable, Hashable {
    /// The HTTP status: 400, 403 or 421.
    var status: Int
    var reason: String
  }

  /// The hosts that a request may name; nil for any. A server that listens on a loopback address accepts only its own
  /// names, because a foreign name may resolve to it as well (DNS rebinding).
  private let hosts: Set<String>?
  private let origins: Set<String>

  /// - Parameters:
  ///   - host: the address that the server listens on.
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
      reason: "Pages of \(Self.short(origin)) may not join here. The option --allow-origin admits them.")
  }

  // MARK: Hosts and origins

  /// Whether the page of an origin was loaded from the host that the request names. The scheme may differ: a proxy may
  /// have terminated TLS.
  static func isSame(origin: String, host: String) -> Bool {
    guard let (authority, port) = authority(ofOrigin: origin) else { return false }
    return withPort(authority, port) == withPort(host.lowercased(), port)
  }

  /// Returns the host and port of an origin, and the default port of its scheme; nil if it is not the origin of a page.
  private static func authority(ofOrigin origin: String) -> (authority: String, port: String)? {
    if origin.hasPrefix("https://") { return (String(origin.dropFirst(8)), "443") }
    if origin.hasPrefix("http://") { return (String(origin.dropFirst(7)), "80") }
    return nil
  }

  private static func withPort(_ authority: String, _ port: String) -> String {
    hostname(of: authority).utf8.count == authority.utf8.count ? "\(authority):\(port)" : authority
  }

  /// Returns a host and port without the port.
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

extension SkyRTCServer {
  /// Whether a request comes from a page of the server itself, by the values of its `Origin` and `Host` headers.
  package static func isOwnPage(origins: [String], hosts: [String]) -> Bool {
    guard origins.count == 1, hosts.count == 1 else { return false }
    return RequestRules.isSame(origin: origins[0].lowercased(), host: hosts[0])
  }
}

/// Inspects a connection's first request before all other handlers. A rejected request is passed on so that
/// `PageHandler` answers it, and a request may name one upgrade protocol at most.
///
/// SwiftNIO tries the protocols of an `Upgrade` header recursively, so a header with thousands of them would overflow
/// the stack.
final class RequestFilter: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let rules: RequestRules
  private let page: PageHandler
  /// Only a connection's first request can upgrade it. Later data is not inspected and need not be HTTP.
  private var isDone = false

  init(rules: RequestRules, page: PageHandler) {
    self.rules = rules
    self.page = page
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDone { return context.fireChannelRead(data) }
    isDone = true
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    page.rejection = rules.rejection(of: head)
    if page.rejection != nil || head.headers[canonicalForm: "upgrade"].count > 1 {
      head.headers.replaceOrAdd(name: "Upgrade", value: "refused")
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }
}
