package import NIOCore
internal import NIOTLS

/// TLS on a stream channel, as a client or a server: handlers after it read and write plain data.
///
/// ```
/// idle ──active──► handshaking ──done──► active ──close, close_notify──► closing ──close_notify, timeout──► closed
///                       └── error, end ──► closed ◄──┘
/// ```
///
/// It fires `TLSUserEvent.handshakeCompleted` and `TLSUserEvent.shutdownCompleted`, and each failure once as a ``TLSError``. The
/// promises of writes fail with the same error after that, and then the channel is closed. What is written before the handshake
/// is complete waits for it. A write succeeds when its ciphertext is flushed. `close` sends a `close_notify` and waits for that of
/// the peer; `close` with mode `output` sends it and reads on.
///
/// Left out on purpose: ALPN, client certificates, session resumption of clients, early data, removal from a pipeline that goes on.
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  enum State {
    case idle
    case handshaking
    case active
    /// Our `close_notify` is sent; the timer ends the wait for that of the peer.
    case closing(Scheduled<Void>)
    case closed
  }

  enum Output {
    case open
    /// It is closed after the writes that wait.
    case closeRequested(EventLoopPromise<Void>?)
    case closed
  }

  var state = State.idle
  var output = Output.open
  /// Whether the peer has sent a `close_notify`.
  var isInputClosed = false
  let session: TLSSession
  let closeTimeout: TimeAmount
  var closePromise: EventLoopPromise<Void>?
  /// Ciphertext that is not processed. A handler that is called for received data may cause more to be received.
  private var received = CircularBuffer<ByteBuffer>()
  private var isReceiving = false
  /// Writes; those before the mark are flushed.
  var pending = MarkedCircularBuffer<(data: ByteBuffer, promise: EventLoopPromise<Void>?)>(initialCapacity: 8)
  var isSending = false
  /// A failure that is reported as soon as its alert is sent, with the promises that fail with it.
  private var unreported: (error: TLSError, promises: Promises)?
  /// Whether data was passed on since the last `channelReadComplete`.
  private var hasDelivered = false

  /// How much ciphertext is processed, and how much data is passed on, at once; in bytes.
  private static let maximumStep = 16_384
  private static let maximumDelivery = 65_536

  /// Creates the handler of a client.
  ///
  /// - Parameters:
  ///   - host: the DNS name or the IP address that the server's certificate must be for.
  ///   - closeTimeout: how long the `close_notify` of the peer is awaited after ours.
  ///   - verification: receives the chain of the server, its own certificate first, in DER, and returns whether it is accepted.
  ///     With nil, OpenSSL verifies the chain and the host.
  package init(
    client context: TLSContext, host: String, closeTimeout: TimeAmount = .seconds(5),
    verification: (([[UInt8]]) -> Bool)? = nil
  ) throws(TLSError) {
    session = try TLSSession(client: context, host: host, verification: verification)
    self.closeTimeout = closeTimeout
  }

  /// Creates the handler of a server.
  package init(server context: TLSContext, closeTimeout: TimeAmount = .seconds(5)) throws(TLSError) {
    session = try TLSSession(server: context)
    self.closeTimeout = closeTimeout
  }

  // MARK: Channel

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(context) }
  }

  package func handlerRemoved(context: ChannelHandlerContext) {
    end(failing: ChannelError.ioOnClosedChannel)?.fail(ChannelError.ioOnClosedChannel)
  }

  package func channelActive(context: ChannelHandlerContext) {
    // A handshake that fails at once closes the channel: later handlers must know before that it was active.
    context.fireChannelActive()
    start(context)
  }

  private func start(_ context: ChannelHandlerContext) {
    guard case .idle = state else { return }
    state = .handshaking
    receive(context)
  }

  package func channelInactive(context: ChannelHandlerContext) {
    report(context)
    let error: TLSError? =
      switch state {
      case .idle, .closed: nil
      case .handshaking: .endedDuringHandshake
      case .active, .closing: isInputClosed ? nil : .truncated
      }
    let promises = stop()
    if let error {
      context.fireErrorCaught(error)
      promises.fail(error)
      promises.close?.fail(error)
    } else {
      promises.fail(ChannelError.ioOnClosedChannel)
      promises.close?.succeed(())
    }
    context.fireChannelInactive()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The cause comes before what follows from it, such as an alert that cannot be written.
    report(context)
    context.fireErrorCaught(error)
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
      return context.fireUserInboundEventTriggered(event)
    }
    // The end of TCP, which is not that of TLS.
    switch state {
    case .idle, .closed: context.fireUserInboundEventTriggered(event)
    case .handshaking: fail(.endedDuringHandshake, context)
    case .closing: fail(.truncated, context)
    case .active:
      if isInputClosed { return }
      isInputClosed = true
      context.fireErrorCaught(TLSError.truncated)
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// What waits when the handler stops.
  struct Promises {
    /// Those of writes, and of a close of the output.
    fileprivate var waiting: [EventLoopPromise<Void>] = []
    /// That of a close.
    var close: EventLoopPromise<Void>?

    func fail(_ reason: any Error) {
      for promise in waiting { promise.fail(reason) }
    }
  }

  /// Ends all, without telling anybody.
  private func stop() -> Promises {
    if case .closing(let timer) = state { timer.cancel() }
    state = .closed
    received.removeAll()
    var promises = Promises(close: closePromise)
    closePromise = nil
    if case .closeRequested(let promise?) = output { promises.waiting.append(promise) }
    output = .closed
    while let write = pending.popFirst() {
      if let promise = write.promise { promises.waiting.append(promise) }
    }
    return promises
  }

  /// Fails all that waits, without telling later handlers.
  ///
  /// - Returns: the promise of a close.
  func end(failing reason: any Error) -> EventLoopPromise<Void>? {
    let promises = stop()
    promises.fail(reason)
    return promises.close
  }

  func discardWrites(_ reason: any Error) {
    while let write = pending.popFirst() { write.promise?.fail(reason) }
  }

  /// Sends the alert, if there is one, reports a failure and closes the channel.
  func fail(_ error: TLSError, _ context: ChannelHandlerContext) {
    if case .closed = state { return }
    let promises = stop()
    unreported = (error, promises)
    // If this fails, `channelInactive` or `errorCaught` is called within it.
    if let alert = session.takeCiphertext() { context.write(wrapOutboundOut(alert), promise: nil) }
    context.flush()
    report(context)
    context.close(promise: promises.close)
  }

  /// Reports a failure that is not reported yet.
  private func report(_ context: ChannelHandlerContext) {
    guard let (error, promises) = unreported else { return }
    unreported = nil
    context.fireErrorCaught(error)
    promises.fail(error)
  }

  // MARK: Receiving

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .closed = state { return }
    received.append(unwrapInboundIn(data))
    receive(context)
  }

  package func channelReadComplete(context: ChannelHandlerContext) {
    if hasDelivered {
      hasDelivered = false
      context.fireChannelReadComplete()
    } else if (try? context.channel.syncOptions?.getOption(.autoRead)) == false {
      // The reader asked for data, and only a part of a record or of the handshake arrived.
      context.read()
    }
  }

  /// Processes what has arrived. All that is called here may call this handler, so the state is looked at again after each call.
  private func receive(_ context: ChannelHandlerContext) {
    guard !isReceiving else { return }
    isReceiving = true
    defer { isReceiving = false }
    repeat {
      if case .handshaking = state { handshake(context) }
      deliver(context)
    } while passStepToSession()
  }

  private func passStepToSession() -> Bool {
    if case .closed = state { return false }
    // After a close_notify there is nothing that counts.
    if isInputClosed { received.removeAll() }
    guard var first = received.popFirst() else { return false }
    guard let step = first.readSlice(length: min(first.readableBytes, Self.maximumStep)) else { return false }
    if first.readableBytes > 0 { received.prepend(first) }
    session.receive(step)
    return true
  }

  private func handshake(_ context: ChannelHandlerContext) {
    switch session.handshake() {
    case .needsInput: sendCiphertext(context)
    case .done:
      state = .active
      sendCiphertext(context)
      guard case .active = state else { return }
      context.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
      sendPending(context)
    case .failed(let error): fail(error, context)
    }
  }

  private func deliver(_ context: ChannelHandlerContext) {
    while true {
      switch state {
      case .active, .closing: break
      case .idle, .handshaking, .closed: return
      }
      if isInputClosed { return }
      var data = ByteBuffer()
      let result = session.read(into: &data, limit: Self.maximumDelivery)
      // After a failure it is the alert, which is sent with it.
      if case .failed = result {} else { sendCiphertext(context) }
      if data.readableBytes > 0, case .active = state {
        hasDelivered = true
        context.fireChannelRead(wrapInboundOut(data))
      }
      switch result {
      case .full: continue
      case .needsInput: return sendPending(context)
      case .closed: return peerClosed(context)
      case .failed(let error): return fail(error, context)
      }
    }
  }

  private func peerClosed(_ context: ChannelHandlerContext) {
    if case .active = state, hasDelivered {
      hasDelivered = false
      context.fireChannelReadComplete()
    }
    isInputClosed = true
    switch state {
    case .idle, .handshaking, .closed: return
    case .closing: return finish(context)
    case .active: break
    }
    let isHalfClosed = (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) == true
    if isHalfClosed, case .open = output {
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    } else {
      _ = session.shutdown()
      finish(context)
    }
  }

  /// Closes the channel after both have sent their `close_notify`.
  func finish(_ context: ChannelHandlerContext) {
    let bytes = session.takeCiphertext()
    let promise = end(failing: ChannelError.ioOnClosedChannel)
    if let bytes { context.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }
    context.fireUserInboundEventTriggered(TLSUserEvent.shutdownCompleted)
    context.close(promise: promise)
  }
}

@available(*, unavailable)
extension TLSHandler: Sendable {}
