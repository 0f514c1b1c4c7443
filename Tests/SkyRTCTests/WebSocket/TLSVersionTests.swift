import HTTPTransport
import NIOCore
import NIOPosix
import NIOTLS
import SkyRTC
import TLS
import Testing

@Suite("TLS versions")
struct TLSVersionTests {
  /// The result of one side's handshake.
  private enum Handshake: Equatable {
    case completed
    case failed
  }

  /// Reports how the handshake ended.
  private final class HandshakeObserver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let promise: EventLoopPromise<Handshake>

    init(_ promise: EventLoopPromise<Handshake>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case TLSUserEvent.handshakeCompleted = event { promise.succeed(.completed) }
      context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      promise.succeed(.failed)
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
      promise.succeed(.failed)
      context.fireChannelInactive()
    }
  }

  private func handshake(port: Int, version: TLSContext.Version) async throws -> Handshake {
    let context = try TLSContext(trusting: .noVerification, versions: version...version)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let promise = loop.makePromise(of: Handshake.self)
    let channel = try await ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers([
            try TLSHandler(client: context, host: "127.0.0.1"), HandshakeObserver(promise),
          ])
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    let result = try await promise.futureResult.get()
    try? await channel.close()
    return result
  }

  @Test("the server accepts TLS 1.2 and 1.3 and rejects 1.0 and 1.1 (RFC 8996)")
  func server() async throws {
    try await withServer(tls: .init(certificateFile: Certificate.path, keyFile: Certificate.keyPath)) { _, address in
      var results: [Handshake] = []
      for version in [TLSContext.Version.tlsv13, .tlsv12, .tlsv11, .tlsv1] {
        results.append(try await handshake(port: address.port, version: version))
      }
      #expect(results == [.completed, .completed, .failed, .failed])
    }
  }

  @Test("the client rejects a server of TLS 1.0 or 1.1", arguments: [TLSContext.Version.tlsv1, .tlsv11])
  func client(version: TLSContext.Version) async throws {
    let context = try TLSContext(
      certificateFile: Certificate.path, keyFile: Certificate.keyPath, versions: version...version)
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(TLSHandler(server: context))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let url = try WebSocketURL("wss://127.0.0.1:\(listener.localAddress?.port ?? 0)/")
    var options = WebSocketClient.Options()
    options.trust = .noVerification
    await #expect {
      _ = try await WebSocketClient.connect(to: url, options: options)
    } throws: {
      print("measured: \(version): \($0)")
      return $0 is WebSocketConnectError
    }
    try await listener.close()
  }
}
