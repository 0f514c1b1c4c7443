internal import Glibc
internal import ICE
internal import NIOCore

/// What the kernel knows of the way to an address.
enum Route {
  /// Whether a datagram could leave from an address of ours to another one.
  ///
  /// Connecting a UDP socket sends nothing, but fails as sending would: without a route, to a broadcast address, from loopback
  /// to elsewhere.
  static func exists(from local: TransportAddress, to remote: TransportAddress) -> Bool {
    guard local.family == remote.family,
      let source = SocketAddress(TransportAddress(ip: local.ip, port: 0)), let destination = SocketAddress(remote)
    else { return false }
    let family = local.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    return source.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
      && destination.withSockAddr { connect(descriptor, $0, socklen_t($1)) } == 0
  }
}
