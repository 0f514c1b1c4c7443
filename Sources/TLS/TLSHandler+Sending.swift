package import NIOCore

extension TLSHandler {
  // MARK: Sending

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch (state, output) {
    case (.closed, _), (.closing, _): promise?.fail(ChannelError.ioOnClosedChannel)
    case (_, .closeRequested), (_, .closed): promise?.fail(ChannelError.outputClosed)
    case (.idle, .open), (.handshaking, .open), (.active, .open): pending.append((unwrapOutboundIn(data), promise))
    }
  }

  package func flush(context: ChannelHandlerContext) {
    pending.mark()
    sendPending(context)
  }

  func sendCiphertext(_ context: ChannelHandlerContext) {
    if let bytes = session.takeCiphertext() { context.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }
  }

  /// Encrypts the writes before the mark. A write during this, for example because a promise was completed, waits for its turn.
  func sendPending(_ context: ChannelHandlerContext) {
    guard !isSending else { return }
    isSending = true
    var result = TLSSession.Progress.done
    while result == .done, case .active = state, pending.hasMark {
      while result == .done, case .active = state, pending.hasMark, let write = pending.first {
        var data = write.data
        result = session.write(&data)
        // What there is to send then is the alert, which is sent with the failure.
        if case .failed = result { break }
        let bytes = session.takeCiphertext() ?? ByteBuffer()
        if result == .done {
          _ = pending.popFirst()
          context.write(wrapOutboundOut(bytes), promise: write.promise)
        } else {
          pending[pending.startIndex].data = data
          if bytes.readableBytes > 0 { context.write(wrapOutboundOut(bytes), promise: nil) }
        }
      }
      if case .failed = result { break }
      context.flush()
    }
    isSending = false
    if case .failed(let error) = result { return fail(error, context) }
    if case .active = state, case .closeRequested(let promise) = output, !pending.hasMark {
      finishOutput(context, promise)
    }
  }

  // MARK: Closing

  package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    switch mode {
    case .all: closeAll(context, promise)
    case .output: closeOutput(context, promise)
    case .input: promise?.fail(ChannelError.operationUnsupported)
    }
  }

  private func closeAll(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    switch state {
    case .idle, .handshaking, .closed:
      // Before the end of a handshake there is nothing that a close_notify would complete.
      _ = end(failing: ChannelError.ioOnClosedChannel)
      context.close(promise: promise)
    case .closing:
      if let closePromise {
        if let promise { closePromise.futureResult.cascade(to: promise) }
      } else {
        closePromise = promise
      }
    case .active:
      closePromise = promise
      switch session.shutdown() {
      case .sent where !isInputClosed:
        state = .closing(
          context.eventLoop.assumeIsolated().scheduleTask(in: closeTimeout) { [self] in
            let promise = end(failing: ChannelError.ioOnClosedChannel)
            context.close(promise: promise)
          })
        sendCiphertext(context)
        discardWrites(ChannelError.ioOnClosedChannel)
      case .sent, .complete: finish(context)
      case .impossible:
        let promise = end(failing: ChannelError.ioOnClosedChannel)
        // The alert of a failure that is not reported yet.
        sendCiphertext(context)
        context.close(promise: promise)
      }
    }
  }

  private func closeOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    switch (state, output) {
    case (.idle, _), (.closed, _), (.active, .closed), (.handshaking, .closed):
      context.close(mode: .output, promise: promise)
    case (.closing, _): closeAll(context, promise)
    case (_, .closeRequested(let earlier)):
      if let earlier {
        if let promise { earlier.futureResult.cascade(to: promise) }
      } else {
        output = .closeRequested(promise)
      }
    case (.active, .open), (.handshaking, .open):
      // Both directions are closed then.
      if isInputClosed { return closeAll(context, promise) }
      output = .closeRequested(promise)
      pending.mark()
      sendPending(context)
    }
  }

  private func finishOutput(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    output = .closed
    _ = session.shutdown()
    sendCiphertext(context)
    discardWrites(ChannelError.outputClosed)
    context.close(mode: .output, promise: promise)
  }
}
