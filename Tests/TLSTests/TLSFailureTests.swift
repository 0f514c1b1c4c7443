import NIOCore
import NIOEmbedded
import TLS
import Testing

@Suite("Failures of TLS")
struct TLSFailureTests {
  /// Notes errors and the end of the channel in their order.
  private final class Log: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    var entries: [String] = []

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      entries.append(error is TLSError ? "TLS" : "network")
      context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
      entries.append("end")
      context.fireChannelInactive()
    }
  }

  /// A connection on which nothing can be written after it broke: a write reports that and ends the channel.
  private final class BreakableOutput: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    struct Broken: Error {}

    var isBroken = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      guard isBroken else { return context.write(data, promise: promise) }
      promise?.fail(Broken())
      context.fireErrorCaught(Broken())
      context.fireChannelInactive()
    }
  }

  /// A client that rejects the certificate of its server.
  private func pair() throws -> TLSPair {
    let certificate = try TestCertificate("a.example", names: ["DNS:a.example"])
    return try TLSPair(
      client: TLSContext(trusting: .file(certificate.certificateFile)),
      server: TLSContext(certificateFile: certificate.certificateFile, keyFile: certificate.keyFile), host: "b.example")
  }

  @Test("the cause is reported before the writes fail that waited for the handshake")
  func order() throws {
    let pair = try pair()
    let observer = pair.client.observer
    var earlier: [TLSError] = []
    let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenFailure { _ in earlier = observer.errors }
    pair.client.channel.writeAndFlush(ByteBuffer(bytes: [1]), promise: promise)
    try pair.connect()
    #expect(observer.errors.count == 1)
    #expect(earlier == observer.errors)
  }

  @Test("the cause is reported before the writes fail that waited when the connection ended")
  func orderAtEnd() throws {
    let pair = try pair()
    let observer = pair.client.observer
    var earlier: [TLSError] = []
    let promise = pair.client.channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenFailure { _ in earlier = observer.errors }
    pair.client.channel.writeAndFlush(ByteBuffer(bytes: [1]), promise: promise)
    try pair.client.connect()
    pair.client.cut()
    #expect(earlier == [.endedDuringHandshake])
  }

  @Test("an alert that cannot be sent does not hide why there is one")
  func unsentAlert() throws {
    let pair = try pair()
    let (log, output) = (Log(), BreakableOutput())
    let pipeline = pair.client.channel.pipeline.syncOperations
    try pipeline.addHandler(output, position: .first)
    try pipeline.addHandler(log, position: .before(pair.client.observer))
    try pair.server.connect()
    try pair.client.connect()
    try pair.client.collect()
    pair.server.receive(pair.client.sent)
    pair.client.sent = ByteBuffer()
    try pair.server.collect()
    output.isBroken = true
    pair.client.receive(pair.server.sent)
    pair.server.sent = ByteBuffer()
    #expect(log.entries.prefix(3) == ["TLS", "network", "end"])
    guard case .certificateRejected? = pair.client.observer.errors.first else {
      Issue.record("Another error: \(pair.client.observer.errors)")
      return
    }
    #expect(pair.client.observer.errors.count == 1)
    #expect(!pair.client.channel.isActive)
  }

  @Test("a close_notify during the handshake is its end, which has a cause")
  func closeNotify() throws {
    let pair = try pair()
    let early = pair.client.write([1])
    try pair.client.connect()
    // A record of TLS 1.2 with an alert: a warning, close_notify (RFC 5246, 6.2.1 and 7.2).
    pair.client.receive(ByteBuffer(bytes: [21, 3, 3, 0, 2, 1, 0]))
    #expect(pair.client.observer.errors == [.endedDuringHandshake])
    #expect(early.error as? TLSError == .endedDuringHandshake)
    #expect(!pair.client.channel.isActive)
  }

  @Test("a message of TLS at the wrong place is not called bytes that are not TLS")
  func outOfOrder() throws {
    let pair = try pair()
    try pair.client.connect()
    // A record of TLS 1.2 with a ServerHelloDone, where a ServerHello belongs (RFC 5246, 7.4.5).
    pair.client.receive(ByteBuffer(bytes: [22, 3, 3, 0, 4, 14, 0, 0, 0]))
    #expect(pair.client.observer.errors == [.handshakeFailed("unexpected message")])
  }

  @Test("a first record of a type that TLS does not have is not TLS, also if its bytes arrive one by one")
  func unknownType() throws {
    for chunk in [1, 9] {
      let pair = try pair()
      try pair.client.connect()
      for piece in stride(from: 0, to: 9, by: chunk) {
        let bytes: [UInt8] = [99, 3, 3, 0, 4, 14, 0, 0, 0]
        pair.client.receive(ByteBuffer(bytes: bytes[piece..<min(piece + chunk, 9)]))
      }
      #expect(pair.client.observer.errors == [.handshakeFailed("what arrived is not TLS")])
    }
  }
}
