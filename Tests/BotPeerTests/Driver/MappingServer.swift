import ICE
import NIOCore
import NIOPosix

/// A STUN server on the loopback interface that returns the same mapped address to every client.
struct MappingServer {
  let port: Int
  private let channel: any Channel

  static func start(answering mapped: TransportAddress) async throws -> MappingServer {
    let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Answering(mapped: mapped))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return MappingServer(port: channel.localAddress?.port ?? 0, channel: channel)
  }

  func stop() async {
    try? await channel.close()
  }

  private final class Answering: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let mapped: TransportAddress

    init(mapped: TransportAddress) {
      self.mapped = mapped
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let request = unwrapInboundIn(data)
      guard let routing = STUNRouting(request.data), routing.kind == .request else { return }
      // A success response with only XOR-MAPPED-ADDRESS (RFC 8489, 14.2).
      guard case .v4(let address) = mapped.ip else { return }
      var answer = ByteBuffer()
      answer.writeInteger(UInt16(0x0101))
      answer.writeInteger(UInt16(12))
      answer.writeImmutableBuffer(request.data.getSlice(at: request.data.readerIndex + 4, length: 16) ?? ByteBuffer())
      answer.writeInteger(UInt16(0x0020))
      answer.writeInteger(UInt16(8))
      answer.writeInteger(UInt16(0x0001))
      answer.writeInteger(mapped.port ^ 0x2112)
      answer.writeInteger(address ^ 0x2112_A442)
      context.writeAndFlush(
        wrapOutboundOut(AddressedEnvelope(remoteAddress: request.remoteAddress, data: answer)), promise: nil)
    }
  }
}
