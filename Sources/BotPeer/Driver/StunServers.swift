internal import Glibc
internal import ICE
internal import NIOCore
internal import NIOPosix

/// Resolves the addresses of `stun:` servers.
enum StunServers {
  /// Resolves the name of each server on a thread pool. A server without an address is an error, because the user
  /// requested it.
  static func resolve(_ servers: [String], on loop: any EventLoop) async throws -> [TransportAddress] {
    var addresses: [TransportAddress] = []
    for text in servers {
      let url: ICEServerURL
      do {
        url = try ICEServerURL(parsing: text)
      } catch {
        throw Peer.StartError.badIceServer(text, reason: "\(error)")
      }
      let found = try await NIOThreadPool.singleton.runIfActive { lookUp(url.host, port: url.port) }
      guard !found.isEmpty else {
        throw Peer.StartError.badIceServer(text, reason: "\(url.host) has no address.")
      }
      for address in found where !addresses.contains(address) { addresses.append(address) }
    }
    return addresses
  }

  /// Returns all addresses of a name, because each local socket needs one of its own family. Blocks.
  private static func lookUp(_ host: String, port: UInt16) -> [TransportAddress] {
    if let address = TransportAddress(host, port: port) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var addresses: [TransportAddress] = []
    var next = first
    while let entry = next?.pointee {
      var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let isNamed =
        getnameinfo(entry.ai_addr, entry.ai_addrlen, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0
      let text = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if isNamed, let address = TransportAddress(text, port: port) { addresses.append(address) }
      next = entry.ai_next
    }
    return addresses
  }
}
