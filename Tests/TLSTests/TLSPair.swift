import NIOCore
import NIOEmbedded
import NIOTLS
import TLS

/// Keeps what a handler of TLS passes on.
final class Observer: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  var bytes: [UInt8] = []
  var errors: [TLSError] = []
  var otherErrors = 0
  var handshakes = 0
  var shutdowns = 0
  var inputCloses = 0
  var inactive = 0
  var readCompletes = 0
  /// Called for each read.
  var onRead: ((ChannelHandlerContext) -> Void)?
  /// Called when the handshake is complete.
  var onHandshake: ((ChannelHandlerContext) -> Void)?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += Array(buffer: unwrapInboundIn(data))
    onRead?(context)
  }

  func channelReadComplete(context: ChannelHandlerContext) { readCompletes += 1 }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case TLSUserEvent.handshakeCompleted:
      handshakes += 1
      onHandshake?(context)
    case TLSUserEvent.shutdownCompleted: shutdowns += 1
    case ChannelEvent.inputClosed: inputCloses += 1
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? TLSError { errors.append(error) } else { otherErrors += 1 }
  }

  func channelInactive(context: ChannelHandlerContext) { inactive += 1 }
}

/// Counts the closes of the output, which an `EmbeddedChannel` would take for closes of both directions.
final class OutputCloses: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  var count = 0

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output else { return context.close(mode: mode, promise: promise) }
    count += 1
    promise?.succeed(())
  }
}

/// One side of a connection in memory.
final class Side {
  let channel = EmbeddedChannel()
  let observer = Observer()
  /// The ciphertext that it has sent and that has not arrived.
  var sent = ByteBuffer()

  let output = OutputCloses()

  init(_ handler: TLSHandler) throws {
    try channel.pipeline.syncOperations.addHandlers([output, handler, observer])
  }

  deinit {
    // A channel that is not closed is never freed.
    channel.close(promise: nil)
    channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    _ = try? channel.finish()
  }

  func connect() throws { channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 443), promise: nil) }

  func collect() throws {
    while var bytes = try channel.readOutbound(as: ByteBuffer.self) { sent.writeBuffer(&bytes) }
  }

  func receive(_ bytes: ByteBuffer) {
    channel.pipeline.fireChannelRead(bytes)
    channel.pipeline.fireChannelReadComplete()
  }

  /// Ends TCP without a `close_notify`.
  func cut() { channel.pipeline.fireChannelInactive() }

  /// - Returns: the result of the write, when it is known.
  func write(_ bytes: some Sequence<UInt8>) -> Outcome {
    let outcome = Outcome()
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { outcome.result = $0 }
    channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: promise)
    return outcome
  }

  func close(_ mode: CloseMode = .all) -> Outcome {
    let outcome = Outcome()
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { outcome.result = $0 }
    channel.close(mode: mode, promise: promise)
    return outcome
  }
}

/// How an operation ended.
final class Outcome {
  var result: Result<Void, any Error>?
  var isSuccess: Bool { if case .success? = result { true } else { false } }
  var error: (any Error)? { if case .failure(let error)? = result { error } else { nil } }
}

/// A client and a server whose bytes are carried by hand.
final class TLSPair {
  let client: Side
  let server: Side

  init(
    client: TLSContext, server: TLSContext, host: String = "a.example", verification: (([[UInt8]]) -> Bool)? = nil
  ) throws {
    self.client = try Side(TLSHandler(client: client, host: host, verification: verification))
    self.server = try Side(TLSHandler(server: server))
  }

  /// Connects both and carries bytes until nothing is sent any more.
  @discardableResult
  func connect(chunk: Int = .max) throws -> TLSPair {
    try server.connect()
    try client.connect()
    try carry(chunk: chunk)
    return self
  }

  /// Carries bytes in pieces of a size until nothing is sent any more.
  func carry(chunk: Int = .max) throws {
    while true {
      try client.collect()
      try server.collect()
      if client.sent.readableBytes == 0, server.sent.readableBytes == 0 { return }
      for (from, to) in [(client, server), (server, client)] {
        var bytes = from.sent
        from.sent = ByteBuffer()
        while let piece = bytes.readSlice(length: min(chunk, bytes.readableBytes)), piece.readableBytes > 0 {
          to.receive(piece)
        }
      }
    }
  }
}
