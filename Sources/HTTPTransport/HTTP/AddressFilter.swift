import NIOCore
import NIOPosix
import Signalling

/// Connects only to addresses of a scope or a wider one. The addresses count to which a name was resolved, so a name that
/// resolves to this machine is no way around it.
final class AddressFilter: ChannelOutboundHandler, Sendable {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The address of a narrower scope.
  struct Rejection: Error {
    var scope: NetworkScope
  }

  private let narrowest: NetworkScope

  init(narrowest: NetworkScope) {
    self.narrowest = narrowest
  }

  func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
    let scope = address.scope
    if scope < narrowest {
      promise?.fail(Rejection(scope: scope))
      context.close(promise: nil)
    } else {
      context.connect(to: address, promise: promise)
    }
  }

  /// The rejection because of which a connection failed; nil if an address was permitted.
  static func rejection(in error: any Error) -> Rejection? {
    if let rejection = error as? Rejection { return rejection }
    guard let error = error as? NIOConnectionError, !error.connectionErrors.isEmpty else { return nil }
    let rejections = error.connectionErrors.compactMap { $0.error as? Rejection }
    return rejections.count == error.connectionErrors.count ? rejections.first : nil
  }
}

extension SocketAddress {
  /// The scope of the address; that of this machine for a path.
  var scope: NetworkScope {
    switch self {
    case .v4: NetworkScope(address: bytes(at: 4, count: 4))
    case .v6: NetworkScope(address: bytes(at: 8, count: 16))
    case .unixDomainSocket: .loopback
    }
  }

  /// Returns bytes of the system's structure: `sin_addr` begins at byte 4, `sin6_addr` at byte 8 (ip(7), ipv6(7)).
  private func bytes(at start: Int, count: Int) -> [UInt8] {
    withSockAddr { address, size in
      size < start + count ? [] : Array(UnsafeRawBufferPointer(start: address, count: size)[start..<start + count])
    }
  }
}
