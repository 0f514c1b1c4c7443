internal import Glibc
internal import ICE
internal import Logging
internal import Media
internal import NIOCore
internal import RTP

/// Sockets, clock and timers for the engines of all participants.
///
/// It lives on one event loop and is touched nowhere else, so it has no lock. It carries out what engines say; it decides
/// only whose a datagram is.
final class PeerDriver {
  private let loop: any EventLoop
  private let configuration: BotPeer.Configuration
  private let log: Logger
  private let emit: (ParticipantEvent) -> Void

  private var sockets: [TransportAddress: DatagramSocket] = [:]
  private var engines: [ParticipantID: PeerEngine] = [:]
  /// Whose a STUN request is, by the first half of its USERNAME.
  private var byUsernameFragment: [String: PeerEngine] = [:]
  /// Whose any other datagram is: a path is an engine's once a check has passed there.
  private var byPath: [Path: PeerEngine] = [:]
  private var reflexiveAddresses: [(mapped: TransportAddress, base: TransportAddress)] = []
  private var gatherers: [TransportAddress: ServerReflexiveGatherer] = [:]
  /// What a viewer who comes now needs to see the present picture.
  private var groupOfPictures = GroupOfPicturesCache()
  private var touched: [PeerEngine] = []
  private var timer: Scheduled<Void>?
  private var timerDeadline: ContinuousClock.Instant?

  init(
    loop: any EventLoop, configuration: BotPeer.Configuration, log: Logger,
    emit: @escaping (ParticipantEvent) -> Void
  ) {
    self.loop = loop
    self.configuration = configuration
    self.log = log
    self.emit = emit
  }

  // MARK: Sockets

  /// Binds a socket on each address; at least one must succeed.
  func bind(_ addresses: [IPAddress], port: UInt16) -> EventLoopFuture<[TransportAddress]> {
    let this = NIOLoopBound(self, eventLoop: loop)
    let attempts = addresses.map { ip in
      DatagramSocket.bind(
        ip: ip, port: port, on: loop,
        received: { this.value.received($0, from: $1, to: $2) },
        batchEnded: { this.value.batchEnded() })
    }
    return EventLoopFuture.whenAllComplete(attempts, on: loop).flatMapThrowing { results in
      var problems: [String] = []
      for (ip, result) in zip(addresses, results) {
        switch result {
        case .success(let socket): this.value.sockets[socket.value.address] = socket.value
        case .failure(let error): problems.append("\(ip): \(Self.reason(error))")
        }
      }
      guard !this.value.sockets.isEmpty else {
        throw BotPeer.StartError.noSocket(port: port, problems: problems)
      }
      for problem in problems { this.value.log.debug("no UDP socket", metadata: ["reason": "\(problem)"]) }
      return Array(this.value.sockets.keys)
    }
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? IOError, let text = strerror(error.errnoCode) else { return "\(error)" }
    return String(cString: text)
  }

  /// Begins to ask the STUN servers how the sockets look from outside.
  func gatherServerReflexive(from servers: [TransportAddress]) {
    let now = ContinuousClock.now
    for address in sockets.keys {
      // A server elsewhere cannot answer a loopback address, and one on this machine tells nothing of another.
      let reachable = servers.filter { $0.family == address.family && $0.ip.isLoopback == address.ip.isLoopback }
      guard !reachable.isEmpty else { continue }
      gatherers[address] = ServerReflexiveGatherer(base: address, servers: reachable, now: now)
    }
    carryOutAll(now: now)
  }

  // MARK: Calls

  func offer(to participant: ParticipantID) {
    let now = ContinuousClock.now
    guard let engine = engine(for: participant, offers: true, now: now) else { return }
    engine.offer(now: now)
    touch(engine)
    carryOutAll(now: now)
  }

  func received(_ message: SignallingMessage, from participant: ParticipantID) {
    let now = ContinuousClock.now
    if case .answer = message, engines[participant] == nil { return }
    guard let engine = engine(for: participant, offers: false, now: now) else { return }
    engine.received(message, now: now)
    touch(engine)
    carryOutAll(now: now)
  }

  func send(_ frame: EncodedFrame) {
    let now = ContinuousClock.now
    if frame.codec == .vp8 { groupOfPictures.add(frame) }
    for engine in engines.values {
      engine.send(frame, now: now)
      touch(engine)
    }
    carryOutAll(now: now)
  }

  func requestKeyframe(of participant: ParticipantID?) {
    let now = ContinuousClock.now
    for engine in engines.values where participant == nil || engine.participant == participant {
      engine.requestKeyframe(now: now)
      touch(engine)
    }
    carryOutAll(now: now)
  }

  func disconnect(_ participant: ParticipantID, because ending: PeerEnding) {
    guard let engine = engines[participant] else { return }
    let now = ContinuousClock.now
    engine.close(ending, now: now)
    touch(engine)
    carryOutAll(now: now)
  }

  func close(reason: String) {
    for participant in Array(engines.keys) { disconnect(participant, because: PeerEnding(.closedByUs, reason)) }
    timer?.cancel()
    for socket in sockets.values {
      socket.flush()
      socket.close()
    }
    sockets.removeAll()
  }

  var statistics: [PeerStatistics] { engines.values.map(\.statistics) }

  /// The participant's engine, a new one if need be; nil if OpenSSL has no certificate for it.
  ///
  /// Each has a certificate of its own: to the participant a new engine with a known certificate would look like the old one.
  private func engine(
    for participant: ParticipantID, offers: Bool, now: ContinuousClock.Instant
  ) -> PeerEngine? {
    if let known = engines[participant] { return known }
    let identity: DTLSIdentity
    do {
      identity = try DTLSIdentity()
    } catch {
      emit(ParticipantEvent(participant: participant, event: .ended(PeerEnding(.failed, error.description))))
      return nil
    }
    let engine = PeerEngine(
      PeerEngine.Configuration(
        participant: participant, identity: identity,
        localAddresses: sockets.keys.sorted { $0.description < $1.description }, sending: configuration.sending,
        isPolite: configuration.isPolite(participant)),
      offers: offers)
    for (mapped, base) in reflexiveAddresses { engine.addServerReflexive(mapped, base: base) }
    engine.prime(groupOfPictures, now: now)
    engines[participant] = engine
    return engine
  }

  private func forget(_ engine: PeerEngine) {
    guard engines[engine.participant] === engine else { return }
    engines[engine.participant] = nil
    byUsernameFragment = byUsernameFragment.filter { $0.value !== engine }
    byPath = byPath.filter { $0.value !== engine }
  }

  // MARK: Datagrams

  private func received(_ datagram: ByteBuffer, from remote: TransportAddress, to local: TransportAddress) {
    // Each has its own arrival, though a batch comes at once: a sender that probes the line measures the differences.
    let now = ContinuousClock.now
    // The buffer is a slice of one that the whole batch shares; what is decrypted in place or kept needs its own bytes.
    let own = ByteBuffer(bytes: datagram.readableBytesView)
    if PacketKind.of(own) == .stun {
      receivedSTUN(own, from: remote, to: local, now: now)
    } else if let engine = byPath[Path(local: local, remote: remote)] {
      engine.received(own, from: remote, to: local, now: now)
      touch(engine)
    }
  }

  private func receivedSTUN(
    _ datagram: ByteBuffer, from remote: TransportAddress, to local: TransportAddress, now: ContinuousClock.Instant
  ) {
    guard let envelope = STUNEnvelope(datagram) else { return }
    if gatherers[local]?.owns(transactionID: envelope.transactionID) == true {
      _ = gatherers[local]?.received(datagram, from: remote, now: now)
      return
    }
    let path = Path(local: local, remote: remote)
    guard let engine = owner(of: envelope, on: path) else { return }
    engine.received(datagram, from: remote, to: local, now: now)
    touch(engine)
    claim(path, for: engine, now: now)
  }

  /// Gives an engine the path that a check has passed on.
  ///
  /// A path that is another engine's goes over only to one whose own check was answered there, which nobody can bring about who
  /// merely pretends to send from there. Then the other program has begun a new call, and the old one is over.
  private func claim(_ path: Path, for engine: PeerEngine, now: ContinuousClock.Instant) {
    guard engine.isValidated(local: path.local, remote: path.remote) else { return }
    if let owner = byPath[path], owner !== engine {
      guard engine.path?.local == path.local, engine.path?.remote == path.remote else { return }
      owner.close(PeerEnding(.connectionLost, "Another call has begun between the same addresses."), now: now)
      touch(owner)
    }
    if byPath.count >= Self.pathLimit { byPath = byPath.filter { $1.isValidated(local: $0.local, remote: $0.remote) } }
    byPath[path] = engine
  }

  /// Two addresses between which datagrams flow.
  private struct Path: Hashable {
    let local: TransportAddress
    let remote: TransportAddress
  }

  /// Paths that are remembered before those that have ceased to be valid are thrown out.
  private static let pathLimit = 4096

  private func owner(of message: STUNEnvelope, on path: Path) -> PeerEngine? {
    if let recipient = message.recipient { return byUsernameFragment[recipient] }
    let likely = byPath[path]
    if let likely, likely.owns(transactionID: message.transactionID) { return likely }
    return engines.values.first { $0.owns(transactionID: message.transactionID) } ?? likely
  }

  private func batchEnded() {
    carryOutAll(now: .now)
  }

  // MARK: Turns

  private func touch(_ engine: PeerEngine) {
    if touched.last === engine || touched.contains(where: { $0 === engine }) { return }
    touched.append(engine)
  }

  /// Carries out what the touched engines want, and sets the timer for what is due next.
  private func carryOutAll(now: ContinuousClock.Instant) {
    let wallClock = configuration.wallClock()
    gather(now: now)
    let turn = touched
    touched.removeAll(keepingCapacity: true)
    for engine in turn { carryOut(engine, now: now, wallClock: wallClock) }
    for socket in sockets.values { socket.flush() }
    setTimer(now: now)
  }

  private func gather(now: ContinuousClock.Instant) {
    for base in gatherers.keys {
      for action in gatherers[base]?.poll(now: now) ?? [] {
        switch action {
        case .send(let datagram, let server):
          sockets[base]?.write(datagram, to: server)
        case .mapped(let mapped, _):
          reflexiveAddresses.append((mapped, base))
          for engine in engines.values {
            engine.addServerReflexive(mapped, base: base)
            touch(engine)
          }
        case .failed(let server):
          log.debug("STUN server did not answer", metadata: ["server": "\(server)"])
        }
      }
    }
  }

  private func carryOut(_ engine: PeerEngine, now: ContinuousClock.Instant, wallClock: NTPTime) {
    for action in engine.poll(now: now, wallClock: wallClock) {
      switch action {
      case .transmit(let datagram, let local, let remote):
        let isMedia = (datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) ?? 0) >= 128
        sockets[local]?.write(datagram, to: remote, isVital: !isMedia)
      case .event(let event):
        emit(ParticipantEvent(participant: engine.participant, event: event))
        if case .ended = event { forget(engine) }
      }
    }
    noteUsernameFragments(of: engine)
  }

  /// After an ICE restart an engine has another user fragment, and for a while the one before too.
  private func noteUsernameFragments(of engine: PeerEngine) {
    let fragments = engine.localUsernameFragments
    guard engines[engine.participant] === engine, let newest = fragments.first, byUsernameFragment[newest] !== engine
    else { return }
    byUsernameFragment = byUsernameFragment.filter { $0.value !== engine }
    for fragment in fragments { byUsernameFragment[fragment] = engine }
  }

  private func setTimer(now: ContinuousClock.Instant) {
    var next = gatherers.values.compactMap(\.deadline).min()
    for engine in engines.values {
      if let deadline = engine.deadline { next = next.map { min($0, deadline) } ?? deadline }
    }
    guard let next else { return }
    if let timerDeadline, timerDeadline <= next, timerDeadline > now { return }
    timer?.cancel()
    timerDeadline = next
    // Never at once: whatever is overdue has just been polled, and would be again and again.
    let delay = max(next - now, .milliseconds(1))
    timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
      self?.timerFired()
    }
  }

  private func timerFired() {
    timerDeadline = nil
    let now = ContinuousClock.now
    for engine in engines.values {
      if let deadline = engine.deadline, deadline <= now { touch(engine) }
    }
    carryOutAll(now: now)
  }
}
