import ICE
import Media
import NIOCore
import RTP
import TestSupport

@testable import BotPeer

/// Two engines joined in memory, in time that a test moves: a whole call without a socket.
struct EnginePair {
  /// What one side has seen and said.
  struct Side {
    let engine: PeerEngine
    let address: TransportAddress
    var events: [PeerEvent] = []
    var frames: [EncodedFrame] = []
    /// When each state was reached.
    var stateTimes: [ConnectionState: ContinuousClock.Instant] = [:]
    /// Whether the link still carries what it says.
    var isSignalling = true
  }

  struct Parcel {
    enum Content {
      case datagram(ByteBuffer, from: TransportAddress)
      case signal(SignallingMessage)
    }

    var due: ContinuousClock.Instant
    var order: Int
    var toBob: Bool
    var content: Content
  }

  let start: ContinuousClock.Instant
  var now: ContinuousClock.Instant
  var alice: Side
  var bob: Side
  var delay: Duration = .milliseconds(1)
  var signallingDelay: Duration = .milliseconds(1)
  /// Decides whether a datagram gets through; a test replaces it.
  var carries: (ByteBuffer, _ toBob: Bool) -> Bool = { _, _ in true }
  /// Changes a signalling message on its way, or swallows it.
  var relay: (SignallingMessage, _ toBob: Bool) -> [SignallingMessage] = { message, _ in [message] }

  private var parcels: [Parcel] = []
  private var order = 0

  /// - Parameters:
  ///   - offersAlice: whether Alice is made to offer; Bob answers unless `offersBob`.
  init(
    seed: UInt64 = 1, offersAlice: Bool = true, offersBob: Bool = false,
    aliceSends: Set<MediaKind> = [.audio, .video], bobSends: Set<MediaKind> = [.audio, .video]
  ) throws {
    start = ContinuousClock.now
    now = start
    var generator = SeededGenerator(seed: seed)
    func side(_ name: String, host: String, sending: Set<MediaKind>, offers: Bool, polite: Bool) throws -> Side {
      let address = TransportAddress(ip: .v4(host == "alice" ? 0x0A00_0001 : 0x0A00_0002), port: 5000)
      let configuration = PeerEngine.Configuration(
        participant: ParticipantID(name), identity: try DTLSIdentity(), localAddresses: [address], sending: sending,
        isPolite: polite)
      return Side(
        engine: PeerEngine(configuration, offers: offers, generator: SeededGenerator(seed: generator.next())),
        address: address)
    }
    alice = try side("bob", host: "alice", sending: aliceSends, offers: offersAlice, polite: true)
    bob = try side("alice", host: "bob", sending: bobSends, offers: offersBob, polite: false)
  }

  mutating func call() {
    alice.engine.offer(now: now)
    collect()
  }

  /// Moves time on, carrying everything that falls due on the way.
  mutating func run(for span: Duration) {
    let end = now + span
    collect()
    while true {
      let deadlines = [alice.engine.deadline, bob.engine.deadline, parcels.map(\.due).min()].compactMap(\.self)
      guard let next = deadlines.min(), next <= end else { break }
      // OpenSSL's retransmission timer reads the real clock; never spin on it without moving ours.
      now = max(next, now + .microseconds(100))
      deliver()
      collect()
    }
    now = end
    collect()
  }

  /// Runs until a condition holds; throws if it never did within the limit.
  mutating func run(until condition: (EnginePair) -> Bool, within limit: Duration = .seconds(10)) throws {
    let end = now + limit
    while now < end {
      if condition(self) { return }
      run(for: .milliseconds(1))
    }
    if !condition(self) { throw NeverHappened(within: limit) }
  }

  /// What a test waited for did not come about.
  struct NeverHappened: Error {
    let within: Duration
  }

  mutating func deliverToBob(_ message: SignallingMessage) {
    bob.engine.received(message, now: now)
    collect()
  }

  mutating func deliverToAlice(_ message: SignallingMessage) {
    alice.engine.received(message, now: now)
    collect()
  }

  private mutating func deliver() {
    let due = parcels.filter { $0.due <= now }.sorted { ($0.due, $0.order) < ($1.due, $1.order) }
    parcels.removeAll { $0.due <= now }
    for parcel in due {
      let side = parcel.toBob ? bob : alice
      switch parcel.content {
      case .datagram(let datagram, let from):
        side.engine.received(datagram, from: from, to: side.address, now: now)
      case .signal(let message):
        side.engine.received(message, now: now)
      }
    }
  }

  mutating func collect() {
    let wallClock = NTPTime(secondsSince1970: 1_700_000_000 + MediaTime(now - start).seconds)
    let fromAlice = alice.engine.poll(now: now, wallClock: wallClock)
    for action in fromAlice { take(action, toBob: true) }
    let fromBob = bob.engine.poll(now: now, wallClock: wallClock)
    for action in fromBob { take(action, toBob: false) }
  }

  private mutating func take(_ action: PeerEngine.Action, toBob: Bool) {
    switch action {
    case .transmit(let datagram, let from, let to):
      let target = toBob ? bob.address : alice.address
      guard to == target, carries(datagram, toBob) else { return }
      post(.datagram(ByteBuffer(bytes: datagram.readableBytesView), from: from), toBob: toBob, after: delay)
    case .event(let event):
      let now = now
      func note(_ side: inout Side) {
        side.events.append(event)
        if case .media(.frame(let frame)) = event { side.frames.append(frame) }
        if case .stateChanged(let state) = event { side.stateTimes[state] = now }
      }
      if toBob { note(&alice) } else { note(&bob) }
      guard case .signal(let message) = event else { return }
      for message in relay(message, toBob) { post(.signal(message), toBob: toBob, after: signallingDelay) }
    }
  }

  private mutating func post(_ content: Parcel.Content, toBob: Bool, after delay: Duration) {
    order += 1
    parcels.append(Parcel(due: now + delay, order: order, toBob: toBob, content: content))
  }
}

extension MediaTime {
  /// A span in nanosecond ticks.
  init(_ span: Duration) {
    let parts = span.components
    self.init(ticks: parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000, rate: 1_000_000_000)
  }
}

extension EnginePair {
  var areConnected: Bool { alice.engine.state == .connected && bob.engine.state == .connected }

  /// Has both sides send sound and pictures in real time; returns what each sent.
  mutating func exchangeMedia(for span: Duration, seed: UInt64 = 3) -> (
    fromAlice: [EncodedFrame], fromBob: [EncodedFrame]
  ) {
    let end = now + span
    var sent: (fromAlice: [EncodedFrame], fromBob: [EncodedFrame]) = ([], [])
    var aliceMedia = MadeUpMedia(seed: seed, start: now)
    var bobMedia = MadeUpMedia(seed: seed + 1, start: now)
    var aliceNext = [aliceMedia.picture(), aliceMedia.sound()]
    var bobNext = [bobMedia.picture(), bobMedia.sound()]

    func due(_ next: inout [EncodedFrame], _ media: inout MadeUpMedia, now: ContinuousClock.Instant) -> [EncodedFrame] {
      var frames: [EncodedFrame] = []
      for index in next.indices {
        while next[index].arrival <= now {
          frames.append(next[index])
          next[index] = next[index].codec == .vp8 ? media.picture() : media.sound()
        }
      }
      return frames
    }

    while now < end {
      for frame in due(&aliceNext, &aliceMedia, now: now) {
        alice.engine.send(frame, now: now)
        sent.fromAlice.append(frame)
      }
      for frame in due(&bobNext, &bobMedia, now: now) {
        bob.engine.send(frame, now: now)
        sent.fromBob.append(frame)
      }
      run(for: .milliseconds(5))
    }
    return sent
  }
}

extension [EncodedFrame] {
  func payloads(_ codec: Codec) -> [ByteBuffer] {
    filter { $0.codec == codec }.map(\.payload)
  }
}
