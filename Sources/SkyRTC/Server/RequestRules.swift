import FoundationEssentials
import Glibc
import Media
import NIOCore
package import NIOHTTP1

/// Decides which requests the server answers. Pure.
///
/// A web page may open a WebSocket to any server that its visitor can reach, including one on the visitor's own
/// machine. It cannot hide its origin: browsers send it (RFC 6455, 10.2). Programs send none.
///
/// A foreign page may also make its own name resolve to our address (DNS rebinding); then its requests have its own origin
/// and name us by its name. So the name by which a request reaches us must be one of ours. An IP address cannot be
/// rebound, and over TLS our certificate is not valid for the foreign name.
package struct RequestRules: Sendable {
  /// Why a request is rejected.
  package struct Rejection: Sendable, Hashable {
    /// The HTTP status: 400, 403 or 421.
    package var status: Int
    /// One sentence of at most 300 bytes, without control characters.
    package var reason: String
  }

  /// Which hosts a request may name.
  private enum Hosts: Sendable {
    case any
    /// Those of loopback addresses, and these: the server is for its own machine.
    case loopback(Set<String>)
    /// IP addresses, localhost and these. Requests that only programs send may name any: browsers send an origin with
    /// every WebSocket, and with every request but GET and HEAD (Fetch, 3.2).
    case named(Set<String>)
  }

  private let hosts: Hosts
  private let origins: Set<String>

  /// - Parameters:
  ///   - host: the address that the server listens on.
  ///   - allowedOrigins: origins that may join besides the server's own, for example `https://example.org`; `*` for all.
  ///   - serverNames: further names of a server that does not listen on a loopback address; `*` for any.
  ///   - machineName: the name of the machine; empty if it has none.
  ///   - isSecure: whether the server uses TLS.
  package init(
    host: String, allowedOrigins: [String], serverNames: [String] = [], machineName: String = "",
    isSecure: Bool = false
  ) {
    origins = Set(allowedOrigins.map { $0.lowercased() })
    let named = origins.compactMap { Self.authority(ofOrigin: $0).map { Self.hostname(of: $0.authority) } }
    if Self.isLoopback(host) {
      hosts = .loopback(Set(named))
    } else if isSecure || serverNames.contains("*") {
      hosts = .any
    } else {
      var names = Set((named + serverNames + [host, machineName]).map { Self.withoutDots($0.lowercased()) })
      // Multicast DNS resolves the first label in the local network (RFC 6762, 3).
      if let label = machineName.lowercased().split(separator: ".").first {
        names.formUnion([String(label), "\(label).local"])
      }
      names.remove("")
      hosts = .named(names)
    }
  }

  /// The name of the machine; empty if the system does not tell it.
  static func machineName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Returns why the first request of a connection is not answered as it wants; nil if it is.
  package func rejection(of head: HTTPRequestHead) -> Rejection? {
    // A URI has only ASCII (RFC 3986, 2).
    guard !head.uri.utf8.hasRunOutsideASCII(over: 0) else {
      return Rejection(status: 400, reason: "The target of the request is not ASCII.")
    }
    for name in ["Host", "Origin", "Upgrade", "Connection", "Sec-WebSocket-Version"]
    where head.headers[name].contains(where: { $0.utf8.hasRunOutsideASCII(over: 0) }) {
      return Rejection(status: 400, reason: "The \(name) header is not ASCII.")
    }
    let named = head.headers["host"]
    guard named.count == 1 || head.version.minor == 0 && named.isEmpty else {
      return Rejection(status: 400, reason: "A request needs one Host header, but this one has \(named.count).")
    }
    if let host = named.first.map(Self.hostname), let reason = rejection(of: head, for: host) {
      return Rejection(status: 421, reason: reason)
    }
    guard head.headers.contains(name: "upgrade") else { return nil }
    return rejection(ofUpgrade: head, host: named.first)
  }

  /// Returns why a request may not name this host.
  private func rejection(of head: HTTPRequestHead, for host: String) -> String? {
    switch hosts {
    case .any:
      return nil
    case .loopback(let names):
      if Self.isLoopback(host) || names.contains(host) { return nil }
      return "This server is for its own machine, but the request is for \(Self.short(host))."
    case .named(let names):
      let isReading = (head.method == .GET || head.method == .HEAD) && !head.headers.contains(name: "upgrade")
      guard isReading || head.headers.contains(name: "origin") else { return nil }
      let name = Self.withoutDots(host)
      if Self.isLoopback(host) || Self.isAddress(host) || names.contains(name) { return nil }
      return "This server has another name than \(Self.short(host)). The option --server-name adds one."
    }
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

  /// Whether a host is an IP address; one of IPv6 has brackets.
  private static func isAddress(_ host: String) -> Bool {
    let isIPv6 = host.hasPrefix("[") && host.hasSuffix("]")
    let text = isIPv6 ? String(host.dropFirst().dropLast()) : host
    return (try? SocketAddress(ipAddress: text, port: 0)) != nil
  }

  private static func withoutDots(_ host: String) -> String {
    var name = host[...]
    while name.first == "." { name.removeFirst() }
    while name.last == "." { name.removeLast() }
    return String(name)
  }

  private static func isLoopback(_ host: String) -> Bool {
    let name = withoutDots(host.lowercased())
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
