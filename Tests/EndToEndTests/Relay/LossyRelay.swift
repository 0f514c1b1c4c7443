import Foundation
import HTTPTransport
import NIOCore
import NIOPosix
import NetworkEmulation
import PeerEngine
import Signalling
import SkyRTC
import TestSupport

/// An impaired network between a program and all other participants of its rooms.
///
/// The program connects to the room server through it. In the program's messages the relay replaces the program's
/// address with its own. From messages to the program it removes all addresses: the program learns them from the first
/// datagrams, as behind a NAT. So all datagrams pass the relay, and a test can change their impairment at any time.
actor LossyRelay {
  typealias Direction = RelayedPort.Direction

  private let network: Network
  private let server: Server
  private var generator: SeededGenerator
  private var conditions: [Direction: Impairment.Conditions] = [:]
  private var front: ScriptedServer?
  private var ports: [String: RelayedPort] = [:]
  /// Ports of programs that were replaced by others, as after a crash.
  private var earlierPorts: [RelayedPort] = []
  private var connections: [Task<Void, Never>] = []

  private init(to server: Server, in network: Network, seed: UInt64) {
    self.server = server
    self.network = network
    generator = SeededGenerator(seed: seed)
  }

  /// Starts a relay in front of a room server.
  ///
  /// - Parameter seed: the seed of the random choices for each datagram.
  static func open(to server: Server, in network: Network, seed: UInt64) async throws -> LossyRelay {
    let relay = LossyRelay(to: server, in: network, seed: seed)
    try await relay.open()
    return relay
  }

  /// The port for the program's WebSocket.
  var port: Int { front?.port ?? 0 }

  /// The value for the program's `--server`.
  var address: String { front?.address ?? "" }

  /// Sets the conditions of all links, including those of later users.
  func impair(_ conditions: Impairment.Conditions, _ directions: Direction...) {
    for direction in directions.isEmpty ? Direction.allCases : directions {
      self.conditions[direction] = conditions
      for port in ports.values { port.set(conditions, direction) }
    }
  }

  /// Drops all datagrams for this time, and then restores the previous conditions.
  func interrupt(for span: Duration) async throws {
    let before = conditions
    impair(.init(loss: 1))
    try await sleepOnEventLoop(for: span)
    for direction in Direction.allCases { impair(before[direction] ?? .init(), direction) }
  }

  /// Returns what a user sent to the program, or the program to the user; nil if they never met.
  func census(of user: String, _ direction: Direction = .toProgram) -> RTPCensus? { ports[user]?.census(direction) }

  /// Returns the number of a user's datagrams that the relay did not read in time.
  func unread(of user: String) async throws -> Int { try await ports[user]?.unread() ?? 0 }

  /// Returns the sum of the counters of all links in that direction.
  func counts(_ direction: Direction) -> NetworkStatistics.DatagramCounts {
    ports.values.map { $0.counts(direction) }.reduce(.init(), +)
  }

  func close() async {
    await front?.close()
    for connection in connections { connection.cancel() }
    for port in ports.values + earlierPorts { port.close() }
    ports = [:]
  }

  // MARK: Signalling

  private func open() async throws {
    front = try await ScriptedServer(in: network) { [weak self] client in
      let (texts, source) = AsyncStream.makeStream(of: String.self)
      client.closed.whenComplete { _ in source.finish() }
      Task { await self?.keep(Task { await self?.serve(client, texts) }) }
      return { text in source.yield(text) }
    }
  }

  private func keep(_ connection: Task<Void, Never>) {
    connections.append(connection)
  }

  private func serve(_ client: ScriptedServer.Client, _ texts: AsyncStream<String>) async {
    guard let upstream = try? await WebSocketClient.connect(to: server.address, on: network.loops) else {
      return client.close()
    }
    let downward = Task {
      for await case .text(let text) in upstream.messages {
        if let text = toProgram(text) { client.send(text) }
      }
      client.close()
    }
    for await text in texts {
      if let text = try? await fromProgram(text) { upstream.send(.text(text)) }
    }
    upstream.close()
    downward.cancel()
  }

  /// Returns the message with the relay's address instead of the program's; nil if it must not be relayed.
  private func fromProgram(_ text: String) async throws -> String? {
    guard case .signal(let signal, let user) = try? ClientMessage(parsing: text) else { return text }
    switch signal {
    case .offer(var description):
      description.sdp = try await moved(description.sdp, for: user)
      return ClientMessage.signal(.offer(description), to: user).text
    case .answer(var description):
      description.sdp = try await moved(description.sdp, for: user)
      return ClientMessage.signal(.answer(description), to: user).text
    case .candidate(var candidate):
      guard !candidate.candidate.isEmpty else { return text }
      guard let moved = try await moved(candidate: candidate.candidate, for: user) else { return nil }
      candidate.candidate = moved
      return ClientMessage.signal(.candidate(candidate), to: user).text
    }
  }

  /// Returns the message without addresses; nil if nothing remains.
  private func toProgram(_ text: String) -> String? {
    let message = try? ServerMessage(parsing: text)
    switch message {
    case .signal(.offer(var description), let user):
      description.sdp = CandidateText.replacing(in: description.sdp) { _ in nil }
      return ServerMessage.signal(.offer(description), from: user).text
    case .signal(.answer(var description), let user):
      description.sdp = CandidateText.replacing(in: description.sdp) { _ in nil }
      return ServerMessage.signal(.answer(description), from: user).text
    case .signal(.candidate, _):
      return nil
    default:
      return text
    }
  }

  private func moved(_ description: String, for user: String) async throws -> String {
    var moved: [String: String] = [:]
    for candidate in CandidateText.candidates(in: description) {
      moved[candidate] = try await self.moved(candidate: candidate, for: user)
    }
    return CandidateText.replacing(in: description) { moved[$0] }
  }

  /// Returns the candidate with the relay's address; nil for all candidates except the one host candidate that the
  /// relay can reach.
  private func moved(candidate: String, for user: String) async throws -> String? {
    let own = network.isIsolated ? Network.isolatedAddress : "127.0.0.1"
    guard let position = CandidateText.hostEndpoint(of: candidate), position.address == own else { return nil }
    let program = try SocketAddress(ipAddress: position.address, port: position.port)
    let port: RelayedPort
    if let known = ports[user], known.program == program {
      port = known
    } else {
      if let earlier = ports[user] { earlierPorts.append(earlier) }
      port = try await RelayedPort(
        at: own, for: program, conditions: conditions, seed: generator.next(), on: network.loops.next())
      ports[user] = port
      // The conditions may have changed while the port was opened.
      for (direction, conditions) in conditions { port.set(conditions, direction) }
    }
    return CandidateText.moving(candidate, to: .init(address: own, port: port.address.port ?? 0))
  }
}
