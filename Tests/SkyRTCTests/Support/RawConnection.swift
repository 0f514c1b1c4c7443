import HTTPTransport
import NIOCore
import NIOPosix

/// A plain TCP connection, for bytes that no correct client would send.
struct RawConnection {
  let channel: any Channel
  private let incoming: AsyncStream<ByteBuffer>

  /// - Parameter receiveBuffer: the size of the kernel's receive buffer in bytes; nil for its default.
  static func connect(to port: Int, receiveBuffer: Int? = nil) async throws -> RawConnection {
    let (incoming, inbox) = AsyncStream.makeStream(of: ByteBuffer.self)
    var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    if let receiveBuffer { bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer) }
    let channel = try await bootstrap.channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Collector(inbox)) }
    }
    .connect(host: "127.0.0.1", port: port).get()
    return RawConnection(channel: channel, incoming: incoming)
  }

  func send(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Returns all bytes received until the other side closes the connection.
  func everything() async -> [UInt8] {
    var all: [UInt8] = []
    for await part in incoming { all += part.readableBytesView }
    return all
  }

  /// Returns the text received up to and including `end`, or until the end of the connection.
  func text(upTo end: String) async -> String {
    var all = ""
    for await part in incoming {
      all += String(decoding: part.readableBytesView, as: UTF8.self)
      if all.hasSuffix(end) || all.suffix(10_000).contains(end) { break }
    }
    return all
  }

  func text() async -> String { String(decoding: await everything(), as: UTF8.self) }

  func close() async { try? await channel.close() }

  /// A complete upgrade request.
  static let upgrade = """
    GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
    """

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let inbox: AsyncStream<ByteBuffer>.Continuation

    init(_ inbox: AsyncStream<ByteBuffer>.Continuation) { self.inbox = inbox }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { inbox.yield(unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) { inbox.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
