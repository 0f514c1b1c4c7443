import NIOCore
import NIOPosix

/// A plain TCP connection, for bytes that no correct client would send.
struct RawConnection: Sendable {
  private let channel: any Channel
  private let incoming: AsyncStream<ByteBuffer>

  init(to server: Server, in network: Network) async throws {
    try await self.init(host: "127.0.0.1", port: server.port, in: network)
  }

  init(host: String, port: Int, in network: Network) async throws {
    let (incoming, inbox) = AsyncStream.makeStream(of: ByteBuffer.self)
    self.incoming = incoming
    channel = try await ClientBootstrap(group: network.loops)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Collector(inbox)) }
      }
      .connect(host: host, port: port).get()
  }

  func send(_ text: String) { channel.writeAndFlush(ByteBuffer(string: text), promise: nil) }

  func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// Returns everything received until the other side closes the connection.
  func receivedText() async -> String {
    var all = ByteBuffer()
    for await part in incoming { all.writeImmutableBuffer(part) }
    return String(buffer: all)
  }

  func close() { channel.close(promise: nil) }

  /// A valid WebSocket upgrade request.
  static let upgrade = """
    GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
    """

  /// Returns a WebSocket frame with a mask of zeros, which leaves its data unchanged.
  ///
  /// - Parameter first: the byte with FIN and the opcode.
  static func frame(_ first: UInt8, _ data: [UInt8]) -> [UInt8] {
    let length: [UInt8] =
      switch data.count {
      case ..<126: [0x80 | UInt8(data.count)]
      case ..<65_536: [0xFE, UInt8(data.count >> 8), UInt8(data.count & 0xFF)]
      default: [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: data.count >> (56 - 8 * $0)) }
      }
    return [first] + length + [0, 0, 0, 0] + data
  }

  private final class Collector: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let inbox: AsyncStream<ByteBuffer>.Continuation

    init(_ inbox: AsyncStream<ByteBuffer>.Continuation) { self.inbox = inbox }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { inbox.yield(unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) { inbox.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
