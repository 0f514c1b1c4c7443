import Glibc
package import ICE
package import Media
package import NIOCore
import NetworkEmulation
package import PeerEngine
import RTP
package import Signalling
package import TestSupport

/// Two whole peers except for their sockets, joined by paths without loss and with a delay of 1 ms, in time that the test
/// advances.
package final class DemultiplexerPair {
  /// One of the two peers.
  package final class Side {
    package let demultiplexer: PeerDemultiplexer
    /// The way of datagrams to and from ``demultiplexer``.
    package let datagrams: NetworkedDemultiplexer
    package let address: TransportAddress
    /// The other peer's id at this side.
    package let other: ParticipantID
    package var source: SyntheticFrameSource?
    package var events: [(time: MonotonicInstant, event: PeerEvent)] = []
    /// All datagrams sent, with their times.
    package var sent: [(time: MonotonicInstant, datagram: ByteBuffer)] = []
    fileprivate var line: EmulatedLink
    fileprivate var handshakeTimer: (due: MonotonicInstant, real: MonotonicInstant)?

    fileprivate init(
      _ configuration: PeerDemultiplexer.Configuration, at address: TransportAddress, other: String, seed: UInt64,
      network: (any DatagramNetwork)? = nil
    ) {
      var configuration = configuration
      configuration.makeGenerator = { SeededGenerator(seed: seed) }
      demultiplexer = PeerDemultiplexer(configuration)
      datagrams = NetworkedDemultiplexer(demultiplexer, network: network)
      demultiplexer.localAddresses = [address]
      self.address = address
      self.other = ParticipantID(other)
      line = EmulatedLink(.init(delay: .milliseconds(1)), seed: 1)
    }

    /// This side's engine for the other peer.
    package var engine: PeerConnection? { demultiplexer.engines[other] }
    package var statistics: PeerStatistics? { datagrams.statistics.first }

    package var frames: [(time: MonotonicInstant, frame: EncodedFrame)] {
      events.compactMap { if case .media(.frame(let frame)) = $0.event { ($0.time, frame) } else { nil } }
    }

    package var said: [(time: MonotonicInstant, message: SignallingMessage)] {
      events.compactMap { if case .signal(let message) = $0.event { ($0.time, message) } else { nil } }
    }

    package var ending: (time: MonotonicInstant, ending: CloseReason)? {
      events.lazy.compactMap { if case .ended(let ending) = $0.event { ($0.time, ending) } else { nil } }.last
    }

    package var keyframeRequests: Int { events.count { $0.event == .keyframeRequested } }
  }

  private static let aliceAddress = TransportAddress(ip: .v4(0x0A00_0001), port: 5000)
  private static let bobAddress = TransportAddress(ip: .v4(0x0A00_0002), port: 5000)

  package let start: MonotonicInstant
  package private(set) var now: MonotonicInstant
  package let alice: Side
  package let bob: Side
  private var signals: [(due: MonotonicInstant, toBob: Bool, message: SignallingMessage)] = []

  /// - Parameters:
  ///   - network: what Alice's datagrams pass in both directions; nil for nothing.
  ///   - configure: changes Alice's configuration.
  package init(
    seed: UInt64 = 1, network: (any DatagramNetwork)? = nil,
    configure: (inout PeerDemultiplexer.Configuration) -> Void = { _ in }
  ) {
    start = .now
    now = start
    var configuration = PeerDemultiplexer.Configuration(
      policy: .init(sending: [.audio, .video]), isPolite: { _ in true })
    let ordinary = PeerDemultiplexer.Configuration(policy: .init(sending: [.audio, .video]), isPolite: { _ in false })
    configure(&configuration)
    alice = Side(configuration, at: Self.aliceAddress, other: "bob", seed: seed, network: network)
    bob = Side(ordinary, at: Self.bobAddress, other: "alice", seed: seed &+ 1)
  }

  /// Starts playing on both sides.
  package func play(shape: SyntheticMedia.Shape = .usual) {
    alice.source = SyntheticFrameSource(seed: 3, start: now, shape: shape)
    bob.source = SyntheticFrameSource(seed: 4, start: now, shape: shape)
  }

  /// Starts a call, and waits for the connection.
  package func connect(aliceOffers: Bool = true, within limit: Duration = .seconds(5)) throws {
    call(aliceOffers: aliceOffers)
    let end = now + limit
    while alice.engine?.state != .connected || bob.engine?.state != .connected {
      guard now < end else { throw NeverHappened(within: limit) }
      run(for: .milliseconds(1))
    }
  }

  package func call(aliceOffers: Bool = true) {
    let caller = aliceOffers ? alice : bob
    caller.demultiplexer.offer(to: caller.other, now: now)
    work()
  }

  // MARK: Time

  package func run(for span: Duration) {
    let end = now + span
    work()
    while let next = nextEvent, next <= end {
      waitForOpenSSL(until: next)
      now = max(next, now + .microseconds(100))
      work()
    }
    now = max(now, end)
    work()
  }

  private var nextEvent: MonotonicInstant? {
    [
      alice.datagrams.deadline, bob.datagrams.deadline, alice.line.deadline, bob.line.deadline,
      alice.source?.deadline, bob.source?.deadline, signals.first?.due,
    ].compactMap(\.self).min()
  }

  /// OpenSSL's retransmission timer reads the real clock: before simulated time jumps to the timer's end, real time must
  /// pass.
  private func waitForOpenSSL(until next: MonotonicInstant) {
    for case let timer? in [alice.handshakeTimer, bob.handshakeTimer] where timer.due <= next {
      let left = timer.real - .now
      if left > .zero { usleep(UInt32(left / .microseconds(1)) + 100) }
    }
  }

  package func work() {
    while let first = signals.first, first.due <= now {
      signals.removeFirst()
      let side = first.toBob ? bob : alice
      side.demultiplexer.received(first.message, from: side.other, now: now)
    }
    for (from, to) in [(alice, bob), (bob, alice)] {
      while let datagram = from.line.receive(now: now) {
        to.datagrams.received(datagram, from: from.address, to: to.address, now: now)
      }
      while let frame = from.source?.next(now: now) { from.demultiplexer.send(frame, now: now) }
    }
    let wallClock = NTPTime(secondsSince1970: 1_700_000_000 + (now - start) / .seconds(1))
    for side in [alice, bob] {
      side.datagrams.poll(now: now, wallClock: wallClock) { action, _ in take(action, of: side) }
      let due = side.engine?.secure.deadline
      if due != side.handshakeTimer?.due { side.handshakeTimer = due.map { ($0, .now + ($0 - now)) } }
    }
  }

  private func take(_ action: PeerConnection.Action, of side: Side) {
    switch action {
    case .transmit(let datagram, _, _):
      side.sent.append((now, datagram))
      side.line.send(datagram, now: now)
    case .event(let event):
      side.events.append((now, event))
      if case .signal(let message) = event { signals.append((now + .milliseconds(1), side === alice, message)) }
    case .media(let events):
      for event in events { side.events.append((now, .media(event))) }
    case .dataChannel: break
    }
  }
}
