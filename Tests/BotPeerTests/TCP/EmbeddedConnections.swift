import ICE
import Logging
import Media
import NIOCore
import NIOEmbedded

@testable import BotPeer

/// The TCP connections of a driver without sockets, in time that the test advances. A frame whose first bytes are 0 and 1 is a
/// check; those of the participants in ``authentic`` have the right password.
final class EmbeddedConnections {
  /// Counts how often a channel asks its socket for more.
  final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
      count += 1
      context.read()
    }
  }

  /// A connection as its other side sees it.
  struct Remote {
    let address: TransportAddress
    let channel: EmbeddedChannel
    let reads: ReadCounter

    /// Sends bytes, which arrive at once, and lets the channel ask for more, as SwiftNIO does.
    func send(_ bytes: ByteBuffer) throws {
      try channel.writeInbound(bytes)
      if channel.isActive { channel.read() }
    }

    var isOpen: Bool { channel.isActive }
  }

  /// How many frames of a participant are handled in a turn, and how long a turn lasts.
  static let framesOfTurn = ReadBudget.limitOfSender.frames
  static let turn = ReadBudget.interval

  let loop = EmbeddedEventLoop()
  private(set) var connections: TCPConnections?
  /// The participants at the remote addresses that know our password.
  var authentic: [TransportAddress: ParticipantID] = [:]
  /// How many frames were passed on from each address.
  private(set) var frames: [TransportAddress: Int] = [:]
  private(set) var ended: [TransportAddress] = []

  init() {
    connections = TCPConnections(
      on: loop, log: Logger(label: "test"),
      .init(
        received: { [unowned self] _, connection in frames[connection.remote, default: 0] += 1 },
        isCheck: { $0.getInteger(at: $0.readerIndex, as: UInt16.self) == 1 },
        participant: { [unowned self] connection in authentic[connection.remote] },
        readEnded: {}, closed: { [unowned self] connection in ended.append(connection.remote) }))
  }

  /// Lets somebody at `10.0.0.host` connect.
  func connect(host: UInt8 = 1, port: UInt16, as participant: ParticipantID? = nil) throws -> Remote {
    let address = TransportAddress(ip: .v4(0x0A00_0000 | UInt32(host)), port: port, transport: .tcp)
    authentic[address] = participant
    let channel = EmbeddedChannel(loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "10.0.0.\(host)", port: Int(port))).wait()
    channel.localAddress = try SocketAddress(ipAddress: "10.0.0.200", port: 5_000)
    channel.remoteAddress = try SocketAddress(ipAddress: "10.0.0.\(host)", port: Int(port))
    try connections?.accept(channel)
    let reads = ReadCounter()
    try channel.pipeline.syncOperations.addHandler(reads, position: .first)
    return Remote(address: address, channel: channel, reads: reads)
  }

  /// A stream of frames.
  static func stream(_ frame: [UInt8], count: Int) -> ByteBuffer {
    var bytes = ByteBuffer()
    for _ in 0..<count { StreamFraming.write(ByteBuffer(bytes: frame), into: &bytes) }
    return bytes
  }

  static let check: [UInt8] = [0, 1] + [UInt8](repeating: 7, count: 98)
}
