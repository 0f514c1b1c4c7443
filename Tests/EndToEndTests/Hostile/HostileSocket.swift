import NIOCore
import NIOPosix
import Synchronization

/// A UDP socket on loopback that sends any datagram, and answers received ones with useless data.
final class HostileSocket: Sendable {
  private let channel: any Channel
  private let answering: Answering

  /// The number of received datagrams.
  var received: Int { answering.received.withLock { $0 } }

  var port: Int { channel.localAddress?.port ?? 0 }

  /// - Parameters:
  ///   - address: an address of 127/8.
  ///   - answers: datagrams to send for each received one, besides its echo; nil sends no answer.
  init(at address: String, in network: Network, answers: [[UInt8]]? = nil) async throws {
    let answering = Answering(answers)
    self.answering = answering
    channel = try await DatagramBootstrap(group: network.loops)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(answering) }
      }
      .bind(host: address, port: 0).get()
  }

  func send(_ datagrams: [[UInt8]], to position: CandidateText.Endpoint) throws {
    let target = try SocketAddress(ipAddress: position.address, port: position.port)
    for bytes in datagrams {
      channel.write(AddressedEnvelope(remoteAddress: target, data: ByteBuffer(bytes: bytes)), promise: nil)
    }
    channel.flush()
  }

  func close() { channel.close(promise: nil) }

  private final class Answering: ChannelInboundHandler, Sendable {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let answers: [[UInt8]]?
    let received = Mutex(0)
    /// The number of datagrams to answer: answers to answers must not continue indefinitely.
    private static let most = 300

    init(_ answers: [[UInt8]]?) { self.answers = answers }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let count = received.withLock { received in
        received += 1
        return received
      }
      guard let answers, count <= Self.most else { return }
      let datagram = unwrapInboundIn(data)
      let all = [datagram.data] + answers.map { ByteBuffer(bytes: $0) }
      for answer in all {
        context.write(
          wrapOutboundOut(AddressedEnvelope(remoteAddress: datagram.remoteAddress, data: answer)), promise: nil)
      }
      context.flush()
    }

    /// The kernel reports an unreachable port as an error; that is expected.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
  }
}
