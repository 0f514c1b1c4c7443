internal import NIOCore

/// Received frames, shared out between their senders.
extension TCPConnections {
  func handler(for connection: TCPConnection) -> some ChannelDuplexHandler & Sendable {
    TCPConnectionHandler(NIOLoopBound((self, connection), eventLoop: loop))
  }

  fileprivate func received(_ chunk: ByteBuffer, on connection: TCPConnection) {
    guard connection.received(chunk) else { return end(connection) }
    serve(connection)
  }

  /// Whether a connection may be read now: what was read before is done, and its sender has something left of this turn.
  fileprivate func mayRead(_ connection: TCPConnection) -> Bool {
    !connection.hasUnread && budget.spent(by: connection.sender, now: loop.now) != nil
  }

  /// Puts off reading to the next turn of the connection's sender.
  fileprivate func putOff(_ connection: TCPConnection, _ resume: @escaping () -> Void) {
    guard !connection.isClosed else { return }
    connection.resumeReading = resume
    wait(connection)
  }

  /// Ends a connection that the other side has closed, after the bytes that came before: they may say why.
  fileprivate func ended(_ connection: TCPConnection) {
    connection.hasEnded = true
    serve(connection)
    if !connection.hasUnread { end(connection) }
  }

  /// Handles the frames of a connection, as many as its sender may have handled in this turn.
  private func serve(_ connection: TCPConnection) {
    let sender = connection.sender
    if let before = budget.spent(by: sender, now: loop.now) {
      var spent = ReadBudget.Amount()
      var sum = before
      while sum.isBelow(ReadBudget.limitOfSender), let frame = connection.nextFrame() {
        let amount = ReadBudget.Amount(frames: 1, bytes: frame.readableBytes)
        spent += amount
        sum += amount
        handle(frame, on: connection)
      }
      budget.spend(spent, of: sender)
    }
    if connection.hasUnread {
      wait(connection)
    } else if !connection.admitsIncomplete {
      forget(connection)
    }
  }

  private func handle(_ frame: ByteBuffer, on connection: TCPConnection) {
    guard connection.admits(frame, isCheck: handlers.isCheck) else { return forget(connection) }
    if frame.readableBytes == 0 { return }
    connection.pass(frame) { handlers.received(&$0, connection) }
    if connection.owner == nil, let participant = handlers.participant(connection) {
      _ = authenticate(connection, as: participant)
    }
  }

  // MARK: Turns

  private func wait(_ connection: TCPConnection) {
    guard !connection.isWaiting, !connection.isClosed else { return }
    connection.isWaiting = true
    waiting.append(connection)
    scheduleTurn()
  }

  private func scheduleTurn() {
    guard !isTurnScheduled, !waiting.isEmpty, !isClosed else { return }
    isTurnScheduled = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(deadline: budget.nextTurn) { bound.value.runTurn() }
  }

  /// Continues with the connections that wait, those first that have waited longest.
  private func runTurn() {
    isTurnScheduled = false
    guard !isClosed else { return }
    for _ in 0..<waiting.count where !budget.isExhausted(now: loop.now) {
      let connection = waiting.removeFirst()
      connection.isWaiting = false
      guard !connection.isClosed else { continue }
      serve(connection)
      if connection.hasEnded, !connection.hasUnread {
        end(connection)
        continue
      }
      guard let resume = connection.resumeReading, !connection.isClosed else { continue }
      if mayRead(connection) {
        connection.resumeReading = nil
        resume()
      } else {
        wait(connection)
      }
    }
    handlers.readEnded()
    scheduleTurn()
  }
}

private final class TCPConnectionHandler: ChannelDuplexHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private let bound: NIOLoopBound<(TCPConnections, TCPConnection)>

  init(_ bound: NIOLoopBound<(TCPConnections, TCPConnection)>) {
    self.bound = bound
  }

  /// Called by SwiftNIO when the channel could be read again.
  func read(context: ChannelHandlerContext) {
    let (connections, connection) = bound.value
    if connections.mayRead(connection) { return context.read() }
    connections.putOff(connection) { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let (connections, connection) = bound.value
    connections.received(unwrapInboundIn(data), on: connection)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    bound.value.0.handlers.readEnded()
    context.fireChannelReadComplete()
  }

  func channelInactive(context: ChannelHandlerContext) {
    let (connections, connection) = bound.value
    connections.ended(connection)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
