import ICE
import Media
import NIOCore
import TestSupport
import Testing

/// A client and a server with a network between them that delays and loses datagrams, and a clock that tests advance.
struct TURNPath {
  private struct Flight {
    let at: MonotonicInstant
    let isToServer: Bool
    let port: UInt16
    let bytes: ByteBuffer
  }

  var client: TURNClient
  var server = FakeTURNServer()
  private(set) var now: MonotonicInstant
  let start: MonotonicInstant
  /// The part of the datagrams that is lost in each direction.
  var loss = 0.0
  var isDown = false
  var delay = Duration.milliseconds(10)
  /// What the client reported, without what it sent.
  private(set) var events: [TURNClient.Action] = []
  private(set) var eventTimes: [MonotonicInstant] = []
  private(set) var sent = 0
  /// The last message that the client sent, whether it arrived or not.
  private(set) var lastSent: STUNMessage?
  private var port: UInt16 = 40_000
  private var flights: [Flight] = []
  private var generator: SeededGenerator
  private var serverSplitter = TURNStreamSplitter()

  static let serverAddress = address("192.0.2.100", 3_478)

  init(
    transport: TURNClient.Transport = .udp, username: String = "user", password: String = "password",
    families: TURNClient.Families = .v4, seed: UInt64 = 1
  ) {
    now = .now
    start = now
    generator = SeededGenerator(seed: seed)
    client = TURNClient(
      server: Self.serverAddress, transport: transport,
      credentials: TURNCredentials(username: username, password: password), families: families, software: "test",
      now: now, generator: SeededGenerator(seed: seed &+ 77))
  }

  var elapsed: Duration { now - start }
  var clientPort: UInt16 { port }
  var allocations: [TURNClient.Allocation] {
    events.compactMap { if case .allocated(let allocation) = $0 { allocation } else { nil } }
  }
  var failures: [TURNFailure] { events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } } }
  var losses: [TURNLoss] { events.compactMap { if case .lost(let loss) = $0 { loss } else { nil } } }
  var connections: [TransportAddress] {
    events.compactMap { if case .connect(let address) = $0 { address } else { nil } }
  }
  var received: [(payload: ByteBuffer, peer: TransportAddress)] {
    events.compactMap { if case .received(let payload, let peer) = $0 { (payload, peer) } else { nil } }
  }

  mutating func clearEvents() {
    events = []
    eventTimes = []
  }

  /// Runs until the condition holds or the time is over.
  @discardableResult
  mutating func run(_ duration: Duration, until condition: (TURNPath) -> Bool = { _ in false }) -> Bool {
    let end = now + duration
    var idlePolls = 0
    poll()
    while !condition(self) {
      let next = min(flights.map(\.at).min() ?? end, client.deadline ?? end)
      if next > end || (next == end && flights.allSatisfy { $0.at > end }) {
        now = end
        poll()
        return condition(self)
      }
      idlePolls = next > now ? 0 : idlePolls + 1
      if idlePolls > 10_000 {
        Issue.record("The deadline stays in the past.")
        return false
      }
      now = max(now, next)
      deliver()
      poll()
    }
    return true
  }

  mutating func send(_ text: String, to peer: TransportAddress) {
    client.send(ByteBuffer(string: text), to: peer, now: now)
    poll()
  }

  /// A peer sends to the relayed address.
  mutating func sendFromPeer(_ text: String, _ peer: TransportAddress) {
    let isStream = client.transport == .stream
    guard !isDown,
      let frame = server.frame(
        ByteBuffer(string: text), from: peer, toPort: port, isStream: isStream, now: now)
    else { return }
    fly(frame, isToServer: false)
  }

  /// Something that the server did not send, or that it sends without reason.
  mutating func inject(_ datagram: ByteBuffer) {
    if client.transport == .stream {
      client.received(stream: datagram, now: now)
    } else {
      client.received(datagram, now: now)
    }
    poll()
  }

  mutating func closeConnection() {
    client.closed(now: now)
    poll()
  }

  mutating func leave() {
    client.leave(now: now)
    poll()
  }

  private mutating func poll() {
    for action in client.poll(now: now) {
      switch action {
      case .send(let bytes):
        sent += 1
        if let message = try? STUNMessage(parsing: bytes) { lastSent = message }
        fly(bytes, isToServer: true)
      case .connect:
        port += 1
        serverSplitter = TURNStreamSplitter()
        flights = []
        events.append(action)
        eventTimes.append(now)
      default:
        events.append(action)
        eventTimes.append(now)
      }
    }
  }

  private mutating func fly(_ bytes: ByteBuffer, isToServer: Bool) {
    if client.transport == .udp, Double.random(in: 0..<1, using: &generator) < loss { return }
    flights.append(Flight(at: now + delay, isToServer: isToServer, port: port, bytes: bytes))
  }

  private mutating func deliver() {
    let due = flights.filter { $0.at <= now }
    flights.removeAll { $0.at <= now }
    for flight in due {
      if !flight.isToServer {
        if client.transport == .stream {
          client.received(stream: flight.bytes, now: now)
        } else {
          client.received(flight.bytes, now: now)
        }
      } else if !isDown {
        var chunk = flight.bytes
        if client.transport == .udp {
          answer(chunk, port: flight.port)
        } else {
          while let frame = try? serverSplitter.next(from: &chunk) { answer(frame, port: flight.port) }
        }
      }
    }
  }

  private mutating func answer(_ frame: ByteBuffer, port: UInt16) {
    if let answer = server.received(frame, fromPort: port, now: now), port == self.port {
      fly(answer, isToServer: false)
    }
  }
}
