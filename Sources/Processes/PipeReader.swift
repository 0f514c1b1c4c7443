internal import NIOCore

/// Reads a pipe on demand, and no more than a number of bytes in each tenth of a second: a program that writes without end
/// waits, and takes little of our time.
final class PipeReader: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private static let interval = TimeAmount.milliseconds(100)

  private let bytesInInterval: Int
  private let received: @Sendable ([UInt8]) -> Void
  private let ended: @Sendable () -> Void
  private var context: ChannelHandlerContext?
  private var intervalEnd = NIODeadline.uptimeNanoseconds(0)
  private var count = 0
  /// The number of pieces that the reader has not finished with.
  private var waitingPieces = 0

  /// - Parameters:
  ///   - bytesInInterval: after so many bytes in a tenth of a second, the next ones are read in the next one.
  ///   - received: called with each piece; ``more()`` follows each.
  ///   - ended: called once, when the other side or we have closed the pipe.
  init(
    bytesInInterval: Int, received: @escaping @Sendable ([UInt8]) -> Void, ended: @escaping @Sendable () -> Void
  ) {
    self.bytesInInterval = bytesInInterval
    self.received = received
    self.ended = ended
  }

  /// The reader has finished with a piece. After the last one the next are read, now or when the rate allows it.
  func more() {
    waitingPieces = max(0, waitingPieces - 1)
    if waitingPieces == 0 { read() }
  }

  private func read() {
    guard let context else { return }
    let now = NIODeadline.now()
    if now >= intervalEnd {
      intervalEnd = now + Self.interval
      count = 0
    }
    guard count >= bytesInInterval else { return context.read() }
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(deadline: intervalEnd) { bound.value.read() }
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Array(unwrapInboundIn(data).readableBytesView)
    count += bytes.count
    waitingPieces += 1
    received(bytes)
  }

  func channelInactive(context: ChannelHandlerContext) {
    ended()
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
