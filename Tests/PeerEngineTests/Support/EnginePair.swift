import Glibc
import ICE
import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import PeerEngineTestSupport
import RTP
import SCTP
import Signalling
import TestSupport

/// Two engines joined in memory by two links with configurable impairments, in time that the test advances: a whole call
/// without a socket.
struct EnginePair {
  /// One side's engine and its events.
  struct Side {
    var engine: PeerConnection
    var address: TransportAddress
    var events: [PeerEvent] = []
    /// What happened on the data channels.
    var dataActions: [DataChannelAction] = []
    var frames: [EncodedFrame] = []
    /// The time at which each of the frames was delivered.
    var frameTimes: [MonotonicInstant] = []
    /// The time at which each state was last reached.
    var stateTimes: [ConnectionState: MonotonicInstant] = [:]
    /// The source of the media that this side plays, or nil.
    var source: SyntheticFrameSource?
    /// The number of datagrams that this side has sent.
    var datagramsSent = 0
    /// The engine's deadline; cached, because it is read more often than it changes.
    fileprivate var deadline: MonotonicInstant?
    /// The time at which OpenSSL's timer expires, in simulated and in real time.
    fileprivate var handshakeTimer: (due: MonotonicInstant, real: MonotonicInstant)?
    fileprivate var isTouched = true

    var ending: CloseReason? {
      if case .ended(let ending) = events.last { ending } else { nil }
    }
  }

  private struct Signal {
    let due: MonotonicInstant
    let toBob: Bool
    let message: SignallingMessage
  }

  let start: MonotonicInstant
  var now: MonotonicInstant
  var alice: Side
  var bob: Side
  var toBob: EmulatedLink
  var toAlice: EmulatedLink
  var signallingDelay: Duration = .milliseconds(1)
  /// A filter for each datagram; false drops it.
  var carries: (ByteBuffer, _ toBob: Bool) -> Bool = { _, _ in true }
  /// Changes a signalling message in transit; an empty result drops it.
  var relay: (SignallingMessage, _ toBob: Bool) -> [SignallingMessage] = { message, _ in [message] }

  private var signals: [Signal] = []
  private var earlier: (toBob: EmulatedLink, toAlice: EmulatedLink)?

  /// - Parameters:
  ///   - offersAlice: whether Alice offers; Bob only answers unless `offersBob` is true.
  ///   - bobReceives: the kinds of media that Bob accepts from Alice.
  ///   - line: the conditions of both directions.
  init(
    seed: UInt64 = 1, offersAlice: Bool = true, offersBob: Bool = false,
    aliceSends: Set<MediaKind> = [.audio, .video], bobSends: Set<MediaKind> = [.audio, .video],
    bobReceives: Set<MediaKind> = [.audio, .video], line: Impairment.Conditions = .init(delay: .milliseconds(1)),
    profiles: [SRTPProfile] = SRTPProfile.preferred, aliceData: DataChannelOptions? = nil,
    bobData: DataChannelOptions? = nil, bobRestartsICE: Bool = true, aliceCodecs: CodecPreferences = CodecPreferences(),
    bobCodecs: CodecPreferences = CodecPreferences()
  ) throws {
    start = MonotonicInstant.now
    now = start
    var generator = SeededGenerator(seed: seed)
    alice = Side(
      engine: try Self.engine(
        for: "bob", at: Self.aliceAddress, sends: aliceSends, offers: offersAlice, isPolite: true, profiles: profiles,
        data: aliceData, codecs: aliceCodecs, using: &generator),
      address: Self.aliceAddress)
    bob = Side(
      engine: try Self.engine(
        for: "alice", at: Self.bobAddress, sends: bobSends, receives: bobReceives, offers: offersBob, isPolite: false,
        data: bobData, restartsICE: bobRestartsICE, codecs: bobCodecs, using: &generator),
      address: Self.bobAddress)
    toBob = EmulatedLink(line, seed: generator.next())
    toAlice = EmulatedLink(line, seed: generator.next())
  }

  static let aliceAddress = TransportAddress(ip: .v4(0x0A00_0001), port: 5000)
  static let bobAddress = TransportAddress(ip: .v4(0x0A00_0002), port: 5000)

  static func engine(
    for participant: String, at address: TransportAddress, sends: Set<MediaKind>,
    receives: Set<MediaKind> = [.audio, .video], offers: Bool, isPolite: Bool,
    profiles: [SRTPProfile] = SRTPProfile.preferred, data: DataChannelOptions? = nil, restartsICE: Bool = true,
    codecs: CodecPreferences = CodecPreferences(), using generator: inout SeededGenerator
  ) throws -> PeerConnection {
    var configuration = PeerConnection.Configuration(
      participant: ParticipantID(participant), identity: try DTLSIdentity(), localAddresses: [address],
      isPolite: isPolite, policy: .init(sending: sends))
    configuration.policy.tracks.receiving = receives
    configuration.policy.tracks.codecs = codecs
    configuration.protectionProfiles = profiles
    configuration.policy.dataChannels = data
    configuration.policy.ice.restartsICE = restartsICE
    return PeerConnection(configuration, offers: offers, generator: SeededGenerator(seed: generator.next()))
  }

  /// The delay of each direction.
  var delay: Duration {
    get { toBob.conditions.delay }
    set {
      toBob.conditions.delay = newValue
      toAlice.conditions.delay = newValue
    }
  }

  /// Sets the conditions of both directions. The fates of later datagrams depend only on the seed, although the number of
  /// datagrams in the handshake depends on the machine.
  mutating func setBandwidth(_ conditions: Impairment.Conditions, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // Datagrams in flight remain in flight.
    earlier = (toBob, toAlice)
    toBob = EmulatedLink(conditions, seed: generator.next())
    toAlice = EmulatedLink(conditions, seed: generator.next())
  }

  mutating func call() {
    alice.engine.offer(now: now)
    collect()
  }

  /// Starts a call, and waits for the connection.
  mutating func connect(within limit: Duration = .seconds(10)) throws {
    call()
    try run(until: \.areConnected, within: limit)
  }

  // MARK: Time

  /// Advances time and delivers everything that falls due on the way.
  mutating func run(for span: Duration) {
    let end = now + span
    collect()
    while let next = nextEvent, next <= end {
      waitForOpenSSL(until: next)
      // Processing several datagrams at one time costs hardly more than processing one.
      now = max(next, now + .microseconds(100))
      work()
    }
    now = max(now, end)
    collect()
  }

  /// Runs until a condition holds.
  mutating func run(until condition: (EnginePair) -> Bool, within limit: Duration = .seconds(10)) throws {
    let end = now + limit
    while now < end {
      if condition(self) { return }
      run(for: .milliseconds(1))
    }
    if !condition(self) { throw NeverHappened(within: limit) }
  }

  private var nextEvent: MonotonicInstant? {
    [
      alice.deadline, bob.deadline, toBob.deadline, toAlice.deadline, earlier?.toBob.deadline,
      earlier?.toAlice.deadline, signals.first?.due, alice.source?.deadline, bob.source?.deadline,
    ].reduce(nil) { earliest, one in
      guard let one else { return earliest }
      return earliest.map { min($0, one) } ?? one
    }
  }

  /// OpenSSL's retransmission timer reads the real clock: before simulated time jumps to the timer's end, real time must
  /// pass.
  private func waitForOpenSSL(until next: MonotonicInstant) {
    for case let timer? in [alice.handshakeTimer, bob.handshakeTimer] where timer.due <= next {
      let left = timer.real - .now
      if left > .zero { usleep(UInt32(left / .microseconds(1)) + 100) }
    }
  }

  mutating func deliverToBob(_ message: SignallingMessage) {
    bob.engine.received(message, now: now)
    collect()
  }

  mutating func deliverToAlice(_ message: SignallingMessage) {
    alice.engine.received(message, now: now)
    collect()
  }

  /// Polls both sides, whether they are due or not.
  mutating func collect() {
    alice.isTouched = true
    bob.isTouched = true
    work()
  }

  private mutating func work() {
    while let first = signals.first, first.due <= now {
      signals.removeFirst()
      if first.toBob {
        Self.give(to: &bob) { $0.received(first.message, now: now) }
      } else {
        Self.give(to: &alice) { $0.received(first.message, now: now) }
      }
    }
    while let datagram = earlier?.toBob.receive(now: now) ?? toBob.receive(now: now) {
      Self.give(to: &bob) { $0.received(datagram, from: alice.address, to: Self.bobAddress, now: now) }
    }
    while let datagram = earlier?.toAlice.receive(now: now) ?? toAlice.receive(now: now) {
      Self.give(to: &alice) { [address = alice.address] in
        $0.received(datagram, from: Self.bobAddress, to: address, now: now)
      }
    }
    while let frame = alice.source?.next(now: now) { Self.give(to: &alice) { $0.send(frame, now: now) } }
    while let frame = bob.source?.next(now: now) { Self.give(to: &bob) { $0.send(frame, now: now) } }
    let wallClock = NTPTime(secondsSince1970: 1_700_000_000 + (now - start) / .seconds(1))
    for action in Self.poll(&alice, now: now, wallClock: wallClock) { take(action, toBob: true) }
    for action in Self.poll(&bob, now: now, wallClock: wallClock) { take(action, toBob: false) }
  }

  private static func give(to side: inout Side, _ what: (PeerConnection) -> Void) {
    what(side.engine)
    side.isTouched = true
  }

  private static func poll(
    _ side: inout Side, now: MonotonicInstant, wallClock: NTPTime
  ) -> [PeerConnection.Action] {
    guard side.isTouched || side.deadline.map({ $0 <= now }) == true else { return [] }
    let actions = side.engine.poll(now: now, wallClock: wallClock)
    side.isTouched = false
    side.deadline = side.engine.deadline
    let due = side.engine.secure.deadline
    if due != side.handshakeTimer?.due { side.handshakeTimer = due.map { ($0, .now + ($0 - now)) } }
    return actions
  }

  private mutating func take(_ action: PeerConnection.Action, toBob: Bool) {
    switch action {
    case .transmit(let datagram, _, let to):
      guard to == (toBob ? bob.address : alice.address) else { return }
      if toBob { alice.datagramsSent += 1 } else { bob.datagramsSent += 1 }
      guard carries(datagram, toBob) else { return }
      if toBob { self.toBob.send(datagram, now: now) } else { toAlice.send(datagram, now: now) }
    case .event(let event):
      if toBob { alice.note(event, now: now) } else { bob.note(event, now: now) }
      guard case .signal(let message) = event else { return }
      for message in relay(message, toBob) {
        signals.append(Signal(due: now + signallingDelay, toBob: toBob, message: message))
      }
    case .media(let events):
      for event in events {
        if toBob { alice.note(.media(event), now: now) } else { bob.note(.media(event), now: now) }
      }
    case .dataChannel(let action):
      if toBob { alice.dataActions.append(action) } else { bob.dataActions.append(action) }
    }
  }
}

extension EnginePair.Side {
  mutating func note(_ event: PeerEvent, now: MonotonicInstant) {
    events.append(event)
    if case .media(.frame(let frame)) = event {
      frames.append(frame)
      frameTimes.append(now)
    }
    if case .stateChanged(let state) = event { stateTimes[state] = now }
  }
}

extension EnginePair {
  var areConnected: Bool { alice.engine.state == .connected && bob.engine.state == .connected }
}
