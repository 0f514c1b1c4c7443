internal import Glibc
internal import ICE
internal import NIOCore

/// Where a socket of a measurement sends from.
struct ProbeSource: Sendable {
  let ip: IPAddress
  /// The only interface to use, where the kernel allows that; nil for any.
  let interface: String?

  /// There is no local address to reach a server from.
  struct NoRoute: Error {
    /// A clause.
    let reason: String
  }
}

extension ProbeSource {
  /// Finds where to send to a server from: an address of the wanted ones, or that which the system chooses. Nothing is sent.
  init(toward server: TransportAddress, of sources: SourceAddresses) throws(NoRoute) {
    guard let wanted = sources.source(of: server.family) else {
      let family = server.family == .v4 ? "IPv4" : "IPv6"
      throw NoRoute(reason: "there is no \(family) address of \(sources.interfaceNames)")
    }
    let ip = if let ip = wanted.ip { ip } else { try Self.address(toward: server) }
    self.init(ip: ip, interface: wanted.interface)
  }

  /// Returns the address from which the system sends to a server.
  private static func address(toward server: TransportAddress) throws(NoRoute) -> IPAddress {
    let family = server.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { if descriptor >= 0 { Glibc.close(descriptor) } }
    var name = SocketAddressStorage(server)
    guard descriptor >= 0, name.withSockAddr({ connect(descriptor, $0, $1) }) == 0,
      let local = SocketAddressStorage.local(of: descriptor)
    else {
      throw NoRoute(reason: strerror(errno).map { String(cString: $0) } ?? "error \(errno)")
    }
    return local.ip
  }

  func bindInterface(of channel: any Channel) {
    guard let interface, let socket = channel as? any SocketOptionProvider else { return }
    _ = socket.unsafeSetSocketOption(
      level: .init(SOL_SOCKET), name: .init(SO_BINDTODEVICE), value: InterfaceName(interface))
  }
}
