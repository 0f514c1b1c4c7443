internal import Glibc
internal import ICE
internal import NIOCore
internal import NIOPosix

/// A TCP socket that accepts the connections of participants.
///
/// It belongs to one event loop. SwiftNIO accepts the connections; the socket is bound before, so that its port is known at
/// once.
final class ListeningSocket {
  let address: TransportAddress
  private let channel: EventLoopFuture<any Channel>

  /// How many connections the kernel keeps that are not accepted yet.
  private static let backlog: Int32 = 128

  /// Binds the socket and begins to accept.
  ///
  /// - Parameters:
  ///   - port: 0 for any free one.
  ///   - interface: the only interface that connections may use: see ``DatagramSocket/init(ip:port:interface:)``.
  ///   - accepted: prepares each connection, on the loop.
  init(
    ip: IPAddress, port: UInt16, interface: String?, on loop: any EventLoop,
    accepted: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) throws(DatagramSocket.Failure) {
    let (descriptor, address) = try Self.bind(ip, port, interface)
    self.address = address
    channel = ServerBootstrap(group: loop)
      .serverChannelOption(.maxMessagesPerRead, value: AcceptPacer.connectionsAtOnce)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptPacer()) }
      }
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .childChannelOption(.writeBufferWaterMark, value: TCPConnection.watermark)
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: TCPConnection.readAllocator)
      .childChannelInitializer(accepted)
      .withBoundSocket(descriptor)
  }

  func close() { channel.whenSuccess { $0.close(promise: nil) } }

  private static func bind(
    _ ip: IPAddress, _ port: UInt16, _ interface: String?
  ) throws(DatagramSocket.Failure) -> (Int32, TransportAddress) {
    let family = ip.family == .v4 ? AF_INET : AF_INET6
    let descriptor = socket(
      family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw DatagramSocket.Failure(code: errno) }
    // A program that starts again can use the port although connections of the former one are not forgotten yet (ip(7)).
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    if family == AF_INET6 {
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
    }
    if let interface {
      var name = InterfaceName(interface)
      setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, &name, socklen_t(MemoryLayout<InterfaceName>.size))
    }
    var name = SocketAddressStorage(TransportAddress(ip: ip, port: port))
    guard name.withSockAddr({ Glibc.bind(descriptor, $0, $1) }) == 0, listen(descriptor, backlog) == 0,
      var bound = SocketAddressStorage.local(of: descriptor)
    else {
      let code = errno
      Glibc.close(descriptor)
      throw DatagramSocket.Failure(code: code)
    }
    bound.transport = .tcp
    return (descriptor, bound)
  }
}

/// Limits how often new connections are accepted, because each costs some 50 µs although nothing is known of it: 256 at once,
/// then ``connectionsAtOnce`` in ``interval``. Others wait in the kernel, or are tried again by the other side.
final class AcceptPacer: ChannelOutboundHandler {
  typealias OutboundIn = NIOAny

  static let connectionsAtOnce: UInt = 8
  static let interval = TimeAmount.milliseconds(10)
  private static let burst: Int64 = 32

  /// When the allowance is whole again.
  private var isWhole = NIODeadline.uptimeNanoseconds(0)

  /// Called by SwiftNIO when connections could be accepted again.
  func read(context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    let next = max(now, isWhole - .nanoseconds(Self.interval.nanoseconds * (Self.burst - 1)))
    isWhole = max(isWhole, now) + Self.interval
    if next <= now { return context.read() }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(deadline: next) { bound.value.read() }
  }
}
