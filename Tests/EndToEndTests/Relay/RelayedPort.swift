import Foundation
import Media
import NIOCore
import NIOPosix
import NetworkEmulation
import PeerEngine
import Synchronization
import TestSupport

/// A UDP port that represents a program to one other user. It forwards received datagrams to the program over one
/// impaired link, and the program's datagrams back over another.
///
/// Each address that the user sends from gets its own socket towards the program, as in a NAT, so that the program can
/// distinguish the network paths.
final class RelayedPort: Sendable {
  enum Direction: Sendable, CaseIterable {
    case toProgram
    case fromProgram
  }

  private struct Flow {
    /// The socket towards the program.
    let socket: EventLoopFuture<any Channel>
    var lines: [Direction: EmulatedLink]
    var isWaiting: Set<Direction> = []
  }

  private struct State {
    var flows: [SocketAddress: Flow] = [:]
    var conditions: [Direction: Impairment.Conditions]
    var generator: SeededGenerator
    var censuses: [Direction: RTPCensus] = [:]
    var isClosed = false
  }

  /// The address for the user.
  let address: SocketAddress
  /// The address of the program's port.
  let program: SocketAddress
  private let channel: any Channel
  private let state: Mutex<State>
  private let arrivals: Arrivals

  /// Listens on an address of this machine.
  ///
  /// - Parameters:
  ///   - program: the address of the program's port.
  ///   - seed: the seed of the random choices for each datagram.
  init(
    at host: String, for program: SocketAddress, conditions: [Direction: Impairment.Conditions], seed: UInt64,
    on loop: any EventLoop
  ) async throws {
    let arrivals = Arrivals()
    // A socket belongs to the network of the thread that opens it.
    channel = try await loop.flatSubmit { Self.socket(at: host, on: loop, arrivals) }.get()
    guard let bound = channel.localAddress else { throw ChannelError.unknownLocalAddress }
    address = bound
    self.program = program
    self.arrivals = arrivals
    state = Mutex(State(conditions: conditions, generator: SeededGenerator(seed: seed)))
    arrivals.handle { [weak self] datagram in self?.receivedFromUser(datagram.data, at: datagram.remoteAddress) }
  }

  /// Returns what the user sent to the program, or the program to the user, including dropped datagrams.
  func census(_ direction: Direction) -> RTPCensus { state.withLock { $0.censuses[direction] ?? RTPCensus() } }

  /// Returns the number of the user's datagrams that the kernel dropped because the relay did not read them in time
  /// (`SO_MEMINFO`, `SK_MEMINFO_DROPS`).
  func unread() async throws -> Int {
    typealias Values = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
    guard let options = channel as? any SocketOptionProvider else { return 0 }
    let values: Values = try await options.unsafeGetSocketOption(level: .socket, name: .init(rawValue: 55)).get()
    return Int(values.8)
  }

  /// Returns the sum of the counters of all links in that direction.
  func counts(_ direction: Direction) -> NetworkStatistics.DatagramCounts {
    state.withLock { state in
      state.flows.values.compactMap { $0.lines[direction]?.counts }.reduce(.init(), +)
    }
  }

  /// Changes the conditions; datagrams in flight keep theirs.
  func set(_ conditions: Impairment.Conditions, _ direction: Direction) {
    state.withLock { state in
      state.conditions[direction] = conditions
      for user in state.flows.keys { state.flows[user]?.lines[direction]?.conditions = conditions }
    }
  }

  func close() {
    let sockets = state.withLock { state in
      state.isClosed = true
      return state.flows.values.map(\.socket)
    }
    arrivals.handle(nil)
    channel.close(promise: nil)
    for socket in sockets { socket.whenSuccess { $0.close(promise: nil) } }
  }

  // MARK: On the event loop

  private func receivedFromUser(_ datagram: ByteBuffer, at user: SocketAddress) {
    state.withLock { state in
      if state.flows[user] == nil, !state.isClosed { state.flows[user] = flow(of: user, &state) }
    }
    travel(datagram, user, .toProgram)
  }

  private func flow(of user: SocketAddress, _ state: inout State) -> Flow {
    let arrivals = Arrivals()
    arrivals.handle { [weak self] datagram in self?.travel(datagram.data, user, .fromProgram) }
    let lines = Direction.allCases.map { direction in
      (direction, EmulatedLink(state.conditions[direction] ?? .init(), seed: state.generator.next()))
    }
    return Flow(
      socket: Self.socket(at: address.ipAddress ?? "127.0.0.1", on: channel.eventLoop, arrivals),
      lines: Dictionary(uniqueKeysWithValues: lines))
  }

  /// Queues a datagram on its link.
  private func travel(_ datagram: ByteBuffer, _ user: SocketAddress, _ direction: Direction) {
    let time = Date().timeIntervalSince1970
    state.withLock { state in
      state.censuses[direction, default: RTPCensus()].pass(datagram, at: time)
      if state.flows[user]?.lines[direction]?.send(datagram, now: .now) == false {
        state.censuses[direction]?.lost(at: time)
      }
    }
    arrive(user, direction)
  }

  /// Forwards the datagrams that are due, and schedules the rest.
  private func arrive(_ user: SocketAddress, _ direction: Direction) {
    let now = MonotonicInstant.now
    state.withLock { state in
      guard let socket = state.flows[user]?.socket else { return }
      while let datagram = state.flows[user]?.lines[direction]?.receive(now: now) {
        switch direction {
        case .fromProgram:
          channel.writeAndFlush(AddressedEnvelope(remoteAddress: user, data: datagram), promise: nil)
        case .toProgram:
          socket.whenSuccess { [program] in
            $0.writeAndFlush(AddressedEnvelope(remoteAddress: program, data: datagram), promise: nil)
          }
        }
      }
      guard let next = state.flows[user]?.lines[direction]?.deadline, !state.isClosed,
        state.flows[user]?.isWaiting.insert(direction).inserted == true
      else { return }
      channel.eventLoop.scheduleTask(in: .nanoseconds((next - now).nanoseconds)) { [weak self] in
        _ = self?.state.withLock { $0.flows[user]?.isWaiting.remove(direction) }
        self?.arrive(user, direction)
      }
    }
  }

  private static func socket(
    at host: String, on loop: any EventLoop, _ arrivals: Arrivals
  ) -> EventLoopFuture<any Channel> {
    DatagramBootstrap(group: loop)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
      .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(arrivals) }
      }
      .bind(host: host, port: 0)
      .map { channel in
        // For a privileged process, which may exceed the kernel's limit (SO_RCVBUFFORCE, socket(7)).
        let options = channel as? any SocketOptionProvider
        _ = options?.unsafeSetSocketOption(level: .socket, name: .init(rawValue: 33), value: CInt(16 << 20))
        return channel
      }
  }

  private final class Arrivals: ChannelInboundHandler, Sendable {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    /// A closure directly in a `Mutex` would get another reabstraction thunk at each `withLock`, and so take longer with
    /// each datagram.
    private struct Handler: Sendable {
      let receive: @Sendable (InboundIn) -> Void
    }

    private let handler = Mutex<Handler?>(nil)

    /// Sets what receives the datagrams; nil drops them.
    func handle(_ receive: (@Sendable (InboundIn) -> Void)?) {
      handler.withLock { $0 = receive.map { Handler(receive: $0) } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let handler = handler.withLock { $0 }
      handler?.receive(unwrapInboundIn(data))
    }

    // ICMP errors of closed ports must not close this socket.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
  }
}

extension Duration {
  /// The duration in whole nanoseconds, for less than 292 years.
  var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }

  /// The duration in seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
