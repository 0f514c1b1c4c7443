import Media
package import NIOCore
package import NIOWebSocket

/// One side of an open WebSocket, for clients and servers.
///
/// It joins fragments, answers pings, pings a silent peer, performs the closing handshake and bounds the data that
/// waits to be sent. It belongs to its channel's event loop, and every method must be called there.
///
/// ```
///            close() or a violation              their close frame, or closeTimeout
///   open ───────────────────────────► closing ─────────────────────────────────────► ended
///    │  their close frame: echoed, then the channel is closed                          ▲
///    └────────────────────────────────────────────────────────────────────────────────┘
///       also: silence, a slow reader, the end of the TCP stream
/// ```
package final class WebSocketHandler: ChannelInboundHandler {
  package typealias InboundIn = WebSocketFrame
  package typealias OutboundOut = WebSocketFrame

  /// The owner's callbacks, called on the event loop. `ended` is called exactly once, and nothing after it.
  package struct Owner {
    package var received: (WebSocketMessage) -> Void
    package var ended: (WebSocketCloseReason) -> Void

    package init(received: @escaping (WebSocketMessage) -> Void, ended: @escaping (WebSocketCloseReason) -> Void) {
      self.received = received
      self.ended = ended
    }
  }

  private enum State {
    case open
    /// Our close frame is queued; received data is discarded.
    case closing(WebSocketCloseReason)
    case ended
  }

  /// The cost in bytes of a waiting frame besides its data, so that a flood of empty pings is bounded too.
  package static let frameOverhead = 64

  private let side: WebSocketSide
  private let limits: WebSocketLimits
  private var owner: Owner?
  private var assembler: WebSocketAssembler
  private var frames: TokenBucket?
  private var keepalive: WebSocketKeepalive?
  private var timer: Scheduled<Void>?
  private var state = State.open
  private var waitingBytes = 0
  /// Whether a flush is in progress, and the last frame written since it began.
  private var isFlushing = false
  private var unflushed: EventLoopFuture<Void>?
  /// Whether a pong is queued, and the data of the next one.
  private var isPongWaiting = false
  private var nextPong: ByteBuffer?
  /// Succeeds when our close frame has been written.
  private var goodbye: EventLoopFuture<Void>?
  private var context: ChannelHandlerContext?

  package init(side: WebSocketSide, limits: WebSocketLimits, owner: Owner) {
    self.side = side
    self.limits = limits
    self.owner = owner
    assembler = WebSocketAssembler(side: side, maximumBytes: limits.maximumMessageBytes)
  }

  /// The channel that contains the handler, until it is removed.
  package var channel: (any Channel)? { context?.channel }

  // MARK: Calls of the owner

  /// Sends a message, unless the connection is closing or has ended.
  package func send(_ message: WebSocketMessage, promise: EventLoopPromise<Void>? = nil) {
    guard case .open = state, let context else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch message {
    case .text(let text): write(.text, ByteBuffer(string: text), context: context, promise: promise)
    case .binary(let data): write(.binary, data, context: context, promise: promise)
    }
  }

  /// Starts the closing handshake. The reason is truncated to the 123 bytes that fit into a close frame.
  package func close(code: UInt16, reason: String) {
    guard case .open = state, let context else { return }
    beginClosing(code: code, reason: reason, ending: .closedLocally(code: code, reason: reason), context: context)
  }

  /// Sends a ping now, unless one is unanswered. The connection ends if nothing is received for `limits.pingTimeout` after it.
  /// Without `limits.pingInterval` this does nothing.
  package func verify() {
    guard case .open = state, let context, keepalive?.expectAnswer(now: context.eventLoop.now) == true else { return }
    write(.ping, ByteBuffer(), context: context)
    timer?.cancel()
    scheduleKeepalive(context: context)
  }

  /// Ends the connection without a closing handshake, because nothing can be sent on it any more.
  ///
  /// - Parameter reason: one sentence.
  package func abandon(because reason: String) {
    guard case .open = state, let context else { return }
    finish(.failed(reason))
    context.close(promise: nil)
  }

  // MARK: Channel events

  package func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    frames = limits.maximumFrameRate.map { TokenBucket(perSecond: $0.perSecond, burst: $0.burst) }
    guard let interval = limits.pingInterval else { return }
    keepalive = WebSocketKeepalive(interval: interval, timeout: limits.pingTimeout, now: context.eventLoop.now)
    scheduleKeepalive(context: context)
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    finish(.failed("The handler was removed."))
    timer?.cancel()
    timer = nil
    self.context = nil
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    keepalive?.heard(now: context.eventLoop.now)
    let frame = unwrapInboundIn(data)
    do throws(WebSocketViolation) {
      if let rate = limits.maximumFrameRate,
        frames?.consume(now: MonotonicInstant(ofEventLoop: context.eventLoop.now)) == false
      {
        throw .tooOften("More than \(rate.perSecond) frames a second arrived.")
      }
      let outcome = try assembler.received(frame)
      switch state {
      case .open: handle(outcome, context: context)
      case .closing: if case .close = outcome { closeChannel(context: context) }
      case .ended: break
      }
    } catch {
      violated(error, context: context)
      // The other side's close frame has arrived, although it is malformed: no other one will follow.
      if frame.opcode == .connectionClose { closeChannel(context: context) }
    }
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case let error as NIOWebSocketError:
      violated(Self.violation(for: error, limit: limits.maximumMessageBytes), context: context)
    default:
      // After a frame that cannot be decoded, nothing else can be. The data is read, so that our reason arrives, but ignored.
      if error is ByteToMessageDecoderError, case .closing = state { return }
      if case .ended = state {} else { finish(.failed(SocketReason.text(error))) }
      context.close(promise: nil)
    }
  }

  package func channelInactive(context: ChannelHandlerContext) {
    finish(.failed("The TCP connection ended."))
    context.fireChannelInactive()
  }

  // MARK: Frames

  private func handle(_ outcome: WebSocketAssembler.Outcome, context: ChannelHandlerContext) {
    switch outcome {
    case .incomplete, .pong:
      break
    case .message(let message):
      owner?.received(message)
    case .ping(let data):
      answerPing(data, context: context)
    case .close(let code, let reason):
      var echo = ByteBuffer()
      if let code { echo.writeInteger(code) }
      finish(.closedByPeer(code: code, reason: reason))
      goodbye = writeFrame(.connectionClose, echo, context: context)
      closeChannel(context: context)
      // A peer that does not read will not receive our close frame either.
      closeChannelLater(context: context)
    }
  }

  /// If pings arrive faster than pongs can be sent, only the last one is answered (RFC 6455, 5.5.3).
  private func answerPing(_ data: ByteBuffer, context: ChannelHandlerContext) {
    guard !isPongWaiting else {
      nextPong = data
      return
    }
    isPongWaiting = true
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in
      isPongWaiting = false
      guard case .open = state, let next = nextPong.take() else { return }
      answerPing(next, context: context)
    }
    write(.pong, data, context: context, promise: sent)
  }

  private func violated(_ violation: WebSocketViolation, context: ChannelHandlerContext) {
    guard case .open = state else { return }
    let ending = WebSocketCloseReason.closedLocally(code: violation.code, reason: violation.description)
    beginClosing(code: violation.code, reason: violation.description, ending: ending, context: context)
  }

  /// Sends a close frame and continues to read, so that unread bytes do not reset the connection before our reason arrives.
  private func beginClosing(code: UInt16, reason: String, ending: WebSocketCloseReason, context: ChannelHandlerContext)
  {
    state = .closing(ending)
    timer?.cancel()
    var data = ByteBuffer(integer: code)
    data.writeString(reason.prefix(utf8Bytes: 123))
    goodbye = writeFrame(.connectionClose, data, context: context)
    closeChannelLater(context: context)
  }

  /// Closes the channel after `closeTimeout`, even if data waits to be sent.
  private func closeChannelLater(context: ChannelHandlerContext) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.closeTimeout)) {
      context.close(promise: nil)
    }
  }

  /// Closes the channel once our close frame has been written.
  private func closeChannel(context: ChannelHandlerContext) {
    guard let goodbye else {
      context.close(promise: nil)
      return
    }
    goodbye.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
  }

  private func finish(_ ending: WebSocketCloseReason) {
    let ending =
      switch state {
      case .open: ending
      case .closing(let earlier): earlier
      case .ended: ending
      }
    if case .ended = state { return }
    state = .ended
    timer?.cancel()
    timer = nil
    let owner = owner
    self.owner = nil
    owner?.ended(ending)
  }

  private func write(
    _ opcode: WebSocketOpcode, _ data: ByteBuffer, context: ChannelHandlerContext,
    promise: EventLoopPromise<Void>? = nil
  ) {
    let size = data.readableBytes + Self.frameOverhead
    guard waitingBytes + size <= limits.maximumOutgoingBytes else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      finish(.outgoingQueueFull(waitingBytes: waitingBytes + size))
      context.close(promise: nil)
      return
    }
    waitingBytes += size
    let written = writeFrame(opcode, data, context: context)
    written.assumeIsolated().whenComplete { [self] _ in waitingBytes -= size }
    written.cascade(to: promise)
  }

  private func writeFrame(
    _ opcode: WebSocketOpcode, _ data: ByteBuffer, context: ChannelHandlerContext
  ) -> EventLoopFuture<Void> {
    let mask = side == .client ? WebSocketMaskingKey.random() : nil
    let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: mask, data: data)
    let written = context.eventLoop.makePromise(of: Void.self)
    context.write(wrapOutboundOut(frame), promise: written)
    if isFlushing { unflushed = written.futureResult } else { flush(upTo: written.futureResult, context: context) }
    return written.futureResult
  }

  /// Flushes written frames. Frames written during a flush are flushed together afterwards: with TLS each flush needs a
  /// buffer of at least 16 KiB, however small its frames are.
  private func flush(upTo last: EventLoopFuture<Void>, context: ChannelHandlerContext) {
    isFlushing = true
    unflushed = nil
    last.assumeIsolated().whenComplete { [self] _ in
      isFlushing = false
      if let unflushed, self.context != nil { flush(upTo: unflushed, context: context) }
    }
    context.flush()
  }

  private func scheduleKeepalive(context: ChannelHandlerContext) {
    guard let keepalive else { return }
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: keepalive.deadline) { [self] in
      pollKeepalive(context: context)
    }
  }

  private func pollKeepalive(context: ChannelHandlerContext) {
    guard case .open = state else { return }
    switch keepalive?.poll(now: context.eventLoop.now) {
    case .giveUp(let silence):
      finish(.pingTimeout(silence))
      context.close(promise: nil)
      return
    case .ping:
      write(.ping, ByteBuffer(), context: context)
    case .wait, nil:
      break
    }
    scheduleKeepalive(context: context)
  }

  private static func violation(for error: NIOWebSocketError, limit: Int) -> WebSocketViolation {
    switch error {
    case .invalidFrameLength: .tooBig("A message may have \(limit) bytes, but a larger frame arrived.")
    case .multiByteControlFrameLength: .protocolError("A control frame may have 125 bytes, but a larger one arrived.")
    case .fragmentedControlFrame: .protocolError("A control frame must not be fragmented.")
    }
  }
}

@available(*, unavailable)
extension WebSocketHandler: Sendable {}
