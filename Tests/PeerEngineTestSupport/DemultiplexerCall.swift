import Glibc
package import ICE
package import Media
package import NIOCore
package import NetworkEmulation
package import PeerEngine
import RTP
package import Signalling
package import TestSupport

/// The engines of one bot behind their demultiplexer, and guests with an engine each, in time that the test advances. A
/// guest can be made to misbehave, and datagrams can arrive from any address.
package final class DemultiplexerCall {
  /// One participant's own engine, and the events that the bot reported about it.
  package struct Guest {
    package var engine: PeerConnection
    package var address: TransportAddress
    package var toBot: EmulatedLink
    package var toGuest: EmulatedLink
    package var source: SyntheticFrameSource?
    /// Whether the guest's engine is polled for datagrams; a scripted guest sends only what the test sends.
    package var speaks = true
    /// The events that the bot's demultiplexer reported about this guest.
    package var events: [(time: MonotonicInstant, event: PeerEvent)] = []
    /// The keyframes that the bot requested of the guest's own source.
    package var keyframeRequests = 0
  }

  /// The time at which a handshake retransmits its flight, in simulated and in real time.
  private struct HandshakeTimer {
    let due: MonotonicInstant
    let real: MonotonicInstant
  }

  /// Counts of what was sent to addresses that belong to no guest.
  package struct Stray {
    package var datagrams = 0
    package var bytes = 0
  }

  package static let botAddress = TransportAddress(ip: .v4(0x0A00_0064), port: 5000)

  package let demultiplexer: PeerDemultiplexer
  package let start: MonotonicInstant
  package private(set) var now: MonotonicInstant
  package var guests: [ParticipantID: Guest] = [:]
  /// The signalling system between the bot and the guests; nil if all messages are delivered as they are.
  package var carrier: (any SignallingCarrier)?
  package private(set) var stray = Stray()
  private var signals: [(due: MonotonicInstant, toBot: Bool, guest: ParticipantID, message: SignallingMessage)] =
    []
  private var handshakeTimers: [ObjectIdentifier: HandshakeTimer] = [:]
  private var generator: SeededGenerator

  package init(
    seed: UInt64 = 1, sending: Set<MediaKind> = [], adjust: (inout PeerDemultiplexer.Configuration) -> Void = { _ in }
  ) {
    start = .now
    now = start
    generator = SeededGenerator(seed: seed)
    var configuration = PeerDemultiplexer.Configuration(policy: .init(sending: sending), isPolite: { _ in false })
    let seeds = SeedSource(generator.next())
    configuration.makeGenerator = { SeededGenerator(seed: seeds.next()) }
    adjust(&configuration)
    demultiplexer = PeerDemultiplexer(configuration)
    demultiplexer.localAddresses = [Self.botAddress]
  }

  /// A source of seeds, one for each engine.
  private final class SeedSource {
    private var generator: SeededGenerator

    init(_ seed: UInt64) { generator = SeededGenerator(seed: seed) }

    func next() -> UInt64 { generator.next() }
  }

  // MARK: Guests

  /// Adds a guest, or a guest's new connection, at `10.0.0.host`; the guest calls the bot, or waits for its offer. Without a
  /// signalling system, the guest's identity is verified.
  package func enter(
    _ name: String, host: UInt8, port: UInt16 = 5000, identity: DTLSIdentity? = nil, offers: Bool = true,
    sends: Set<MediaKind> = [.audio, .video], line: Impairment.Conditions = .init(delay: .milliseconds(10)),
    configure: (inout PeerConnection.Configuration) -> Void = { _ in }
  ) throws {
    let id = ParticipantID(name)
    let address = TransportAddress(ip: .v4(0x0A00_0000 | UInt32(host)), port: port)
    var configuration = PeerConnection.Configuration(
      participant: ParticipantID("bot"), identity: try identity ?? DTLSIdentity(), localAddresses: [address],
      isPolite: true, policy: .init(sending: sends))
    configure(&configuration)
    let engine = PeerConnection(
      configuration, offers: offers, generator: SeededGenerator(seed: generator.next()))
    guests[id] = Guest(
      engine: engine, address: address, toBot: EmulatedLink(line, seed: generator.next()),
      toGuest: EmulatedLink(line, seed: generator.next()), events: guests[id]?.events ?? [])
    if carrier == nil {
      demultiplexer.announce(SignalledParticipant(id, offerer: .remote, isIdentityVerified: true))
    }
    if offers { engine.offer(now: now) }
    work()
  }

  /// Waits until a guest and the bot are connected.
  package func connect(_ name: String, within limit: Duration = .seconds(5)) throws {
    let id = ParticipantID(name)
    try run(within: limit) {
      guests[id]?.engine.state == .connected && demultiplexer.engines[id]?.state == .connected
    }
  }

  package func play(_ name: String, seed: UInt64, shape: SyntheticMedia.Shape = .usual) {
    guests[ParticipantID(name)]?.source = SyntheticFrameSource(seed: seed, start: now, shape: shape)
  }

  /// Stops a guest's source, and returns the frames that it has sent.
  package func stop(_ name: String) -> [EncodedFrame] {
    defer { guests[ParticipantID(name)]?.source = nil }
    return guests[ParticipantID(name)]?.source?.sent ?? []
  }

  /// Returns the frames that the bot received from a guest.
  package func frames(of name: String) -> [EncodedFrame] {
    guests[ParticipantID(name)]?.events.compactMap {
      if case .media(.frame(let frame)) = $0.event { frame } else { nil }
    } ?? []
  }

  package func events(of name: String) -> [PeerEvent] { guests[ParticipantID(name)]?.events.map(\.event) ?? [] }

  /// Returns the reasons for which a guest's calls ended, with the times.
  package func endings(of name: String) -> [(time: MonotonicInstant, ending: CloseReason)] {
    guests[ParticipantID(name)]?.events.compactMap {
      if case .ended(let ending) = $0.event { ($0.time, ending) } else { nil }
    } ?? []
  }

  package func engine(of name: String) -> PeerConnection? { demultiplexer.engines[ParticipantID(name)] }

  // MARK: Input of the bot

  package func signal(_ message: SignallingMessage, from name: String) {
    demultiplexer.received(message, from: ParticipantID(name), now: now)
  }

  /// Handles events of a signalling system as `Peer` does.
  package func receive(_ events: [SignallingEvent]) {
    for event in events {
      switch event {
      case .joined(_, let others):
        for other in others { call(other) }
      case .participantJoined(let participant): call(participant)
      case .participantLeft(let id, let isRejoinVerified):
        demultiplexer.participantLeft(id, isRejoinVerified: isRejoinVerified, now: now)
      case .message(let message, let id): demultiplexer.received(message, from: id, now: now)
      case .iceServers, .connectionLost, .rejected, .closed: break
      }
    }
  }

  private func call(_ participant: SignalledParticipant) {
    demultiplexer.announce(participant)
    if participant.offerer == .local { demultiplexer.offer(to: participant.id, now: now) }
  }

  package func participantLeft(_ name: String, isRejoinVerified: Bool = true) {
    demultiplexer.participantLeft(ParticipantID(name), isRejoinVerified: isRejoinVerified, now: now)
    work()
  }

  /// Delivers a datagram immediately, from any address.
  package func datagram(_ bytes: ByteBuffer, from address: TransportAddress) {
    demultiplexer.received(bytes, from: address, to: Self.botAddress, now: now)
  }

  // MARK: Time

  package func run(for span: Duration) {
    let end = now + span
    work()
    while let next = nextEvent, next <= end {
      waitForOpenSSL(until: next)
      now = max(next, now + .microseconds(200))
      work()
    }
    now = max(now, end)
    work()
  }

  package func run(within limit: Duration, until condition: () -> Bool) throws {
    let end = now + limit
    while !condition() {
      guard now < end else { throw NeverHappened(within: limit) }
      run(for: .milliseconds(5))
    }
  }

  private var nextEvent: MonotonicInstant? {
    var all = [demultiplexer.deadline, signals.first?.due]
    for guest in guests.values {
      all += [guest.toBot.deadline, guest.toGuest.deadline, guest.source?.deadline]
      if guest.speaks { all.append(guest.engine.deadline) }
    }
    return all.compactMap(\.self).min()
  }

  /// OpenSSL's retransmission timer reads the real clock: before simulated time jumps to the timer's end, real time must
  /// pass.
  private func waitForOpenSSL(until next: MonotonicInstant) {
    for timer in handshakeTimers.values where timer.due <= next {
      let left = timer.real - .now
      if left > .zero { usleep(UInt32(left / .microseconds(1)) + 100) }
    }
  }

  private func noteHandshakeTimers() {
    let engines = guests.values.map(\.engine) + demultiplexer.engines.values
    let timers = engines.compactMap { engine -> (ObjectIdentifier, HandshakeTimer)? in
      guard let due = engine.secure.deadline else { return nil }
      let id = ObjectIdentifier(engine)
      if let known = handshakeTimers[id], known.due == due { return (id, known) }
      return (id, HandshakeTimer(due: due, real: .now + (due - now)))
    }
    handshakeTimers = Dictionary(timers) { one, _ in one }
  }

  /// Delivers and polls everything that is due.
  package func work() {
    while let first = signals.first, first.due <= now {
      signals.removeFirst()
      switch (carrier, first.toBot) {
      case (nil, true): demultiplexer.received(first.message, from: first.guest, now: now)
      case (nil, false): guests[first.guest]?.engine.received(first.message, now: now)
      case (let carrier?, true): receive(carrier.guestSent(first.message))
      case (let carrier?, false):
        let (messages, events) = carrier.botSent(first.message)
        for message in messages { guests[first.guest]?.engine.received(message, now: now) }
        receive(events)
      }
    }
    let wallClock = NTPTime(secondsSince1970: 1_700_000_000 + (now - start) / .seconds(1))
    for id in guests.keys.sorted(by: { $0.text < $1.text }) {
      while let datagram = guests[id]?.toBot.receive(now: now), let from = guests[id]?.address {
        demultiplexer.received(datagram, from: from, to: Self.botAddress, now: now)
      }
      while let datagram = guests[id]?.toGuest.receive(now: now), let to = guests[id]?.address {
        guests[id]?.engine.received(datagram, from: Self.botAddress, to: to, now: now)
      }
      while let frame = guests[id]?.source?.next(now: now) { guests[id]?.engine.send(frame, now: now) }
      guard guests[id]?.speaks == true, let engine = guests[id]?.engine else { continue }
      for action in engine.poll(now: now, wallClock: wallClock) {
        switch action {
        case .transmit(let datagram, _, let to):
          if to == Self.botAddress { guests[id]?.toBot.send(datagram, now: now) }
        case .event(.signal(let message)):
          signals.append((now + .milliseconds(1), true, id, message))
        case .event(.keyframeRequested): guests[id]?.keyframeRequests += 1
        case .event, .media, .dataChannel:
          break
        }
      }
    }
    demultiplexer.poll(now: now, wallClock: wallClock) { action, participant in
      switch action {
      case .transmit(let datagram, _, let to):
        if let id = guests.first(where: { $0.value.address == to })?.key {
          guests[id]?.toGuest.send(datagram, now: now)
        } else {
          stray.datagrams += 1
          stray.bytes += datagram.readableBytes
        }
      case .event(let event):
        guests[participant]?.events.append((now, event))
        if case .signal(let message) = event { signals.append((now + .milliseconds(1), false, participant, message)) }
      case .media(let events):
        for event in events { guests[participant]?.events.append((now, .media(event))) }
      case .dataChannel: break
      }
    }
    noteHandshakeTimers()
  }
}
