import NIOCore
import NIOPosix
import Synchronization

/// A server on 127.0.0.1 that answers each request with bytes of a test.
final class RawServer: Sendable {
  /// What it does with a request.
  enum Answer: Sendable {
    case bytes(String)
    /// The first text, then the second one again and again.
    case endless(String, String)
    case nothing
    case close
  }

  private final class Log: Sendable {
    let requests = Mutex<[String]>([])
    let connections = Mutex(0)
  }

  private let channel: any Channel
  private let log: Log

  var port: Int { channel.localAddress?.port ?? 0 }
  /// The requests, with head and body.
  var requests: [String] { log.requests.withLock { $0 } }
  var connections: Int { log.connections.withLock { $0 } }

  init(_ answer: Answer) async throws {
    let log = Log()
    self.log = log
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          log.connections.withLock { $0 += 1 }
          try channel.pipeline.syncOperations.addHandler(Handler(answer, log))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  deinit { channel.close(promise: nil) }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: Answer
    private let log: Log
    private var text = ""

    init(_ answer: Answer, _ log: Log) {
      self.answer = answer
      self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      text += String(buffer: unwrapInboundIn(data))
      // The body is an object.
      guard text.utf8.last == UInt8(ascii: "}") else { return }
      log.requests.withLock { [text] in $0.append(text) }
      text = ""
      switch answer {
      case .bytes(let bytes): write(bytes, context)
      case .endless(let head, let bytes):
        write(head, context)
        Self.repeatForever(bytes, context.channel)
      case .nothing: break
      case .close: context.close(promise: nil)
      }
    }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    private static func repeatForever(_ text: String, _ channel: any Channel) {
      // In another turn of the loop: a write that succeeds at once would grow the stack without end.
      channel.writeAndFlush(ByteBuffer(string: text)).whenSuccess {
        channel.eventLoop.execute { repeatForever(text, channel) }
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
  }
}
