internal import Glibc
internal import Media

/// Looks up the addresses of a receiver's name.
package protocol WebhookResolver: Sendable {
  /// - Parameter host: a name, or an address as text.
  /// - Returns: at least one address, the preferred one first.
  /// - Throws: a ``WebhookResolverError``.
  func addresses(of host: String) async throws(WebhookResolverError) -> [IPAddress]
}

/// Why a name has no address: a sentence.
package struct WebhookResolverError: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}

/// The resolver of the system (getaddrinfo(3)), on a thread for each name.
package struct SystemResolver: WebhookResolver {
  package init() {}

  package func addresses(of host: String) async throws(WebhookResolverError) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    let result = await withCheckedContinuation { (done: CheckedContinuation<[IPAddress]?, Never>) in
      let isStarted = DedicatedThread.start("resolve") { done.resume(returning: Self.resolve(host)) }
      if !isStarted { done.resume(returning: nil) }
    }
    guard let addresses = result else { throw WebhookResolverError("The name of the receiver cannot be resolved.") }
    guard !addresses.isEmpty else { throw WebhookResolverError("The name of the receiver has no address.") }
    return addresses
  }

  /// Blocks. The address of IPv4 begins at byte 4 of the system's structure, that of IPv6 at byte 8 (ip(7), ipv6(7)).
  private static func resolve(_ host: String) -> [IPAddress]? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    // Addresses of a protocol that this machine has not, are not asked for.
    hints.ai_flags = AI_ADDRCONFIG
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0 else { return nil }
    defer { freeaddrinfo(list) }
    var addresses: [IPAddress] = []
    var next = list
    while let entry = next?.pointee {
      next = entry.ai_next
      guard let address = entry.ai_addr else { continue }
      let bytes = [UInt8](UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
      let found =
        switch entry.ai_family {
        case AF_INET: IPAddress(bytes: bytes.dropFirst(4).prefix(4))
        case AF_INET6: IPAddress(bytes: bytes.dropFirst(8).prefix(16))
        default: IPAddress?.none
        }
      if let found, !addresses.contains(found) { addresses.append(found) }
    }
    return addresses
  }
}
