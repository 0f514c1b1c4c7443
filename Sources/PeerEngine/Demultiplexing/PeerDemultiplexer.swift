package import ICE
package import Media
package import NIOCore
package import NetworkEmulation
package import RTP
package import Signalling

/// The engines of all participants, and whose each datagram and message is. Without I/O, as the engines are: those who have sockets
/// and a clock carries datagrams in and out.
///
/// Participants share sockets and are distinguished by STUN user names and by paths. What one of them does costs the others
/// nothing: what is kept is bounded, and what they say is taken at a limited rate.
package final class PeerDemultiplexer {
  package struct Configuration {
    package var sending: Set<MediaKind> = []
    package var receiving = Set(MediaKind.allCases)
    package var allowsLocalCandidates = true
    package var isPolite: @Sendable (ParticipantID) -> Bool = { _ in true }
    package var media = MediaSession.Configuration()
    package var impairment: Impairment?
    package var faultInjector: (any FaultInjector)?
    /// How many may continue with a call after they have left the room: as many as a room has when its server is lost.
    package var departedLimit = 256
    /// Shared by all who check addresses.
    package var checkPace = CheckPacer()
    /// Makes what passwords and SSRCs come from; must be unpredictable outside tests.
    package var makeGenerator: () -> any RandomNumberGenerator & Sendable = { SystemRandomNumberGenerator() }

    package init(sending: Set<MediaKind> = [], isPolite: @escaping @Sendable (ParticipantID) -> Bool = { _ in true }) {
      self.sending = sending
      self.isPolite = isPolite
    }
  }

  /// The addresses of the sockets that datagrams can leave from.
  package var localAddresses: [TransportAddress] = []
  package private(set) var engines: [ParticipantID: PeerConnection] = [:]
  /// When ``poll(now:wallClock:carryOut:)`` is needed next even if nothing comes in; as it was after the last one.
  package private(set) var deadline: ContinuousClock.Instant?

  private let configuration: Configuration
  private var gates: [ParticipantID: SignallingRateLimiter] = [:]
  /// Whose a STUN request is, by the first half of its USERNAME.
  private var byUsernameFragment: [String: PeerConnection] = [:]
  /// Whose any other datagram is: a path is an engine's once a check has passed there.
  private var byPath: [Path: PeerConnection] = [:]
  private var reflexiveAddresses: [(mapped: TransportAddress, base: TransportAddress)] = []
  /// What a viewer who comes now needs to see the present frame.
  private var groupOfPictures = GroupOfPicturesCache()
  private var touched: [PeerConnection] = []
  var overload = OverloadController()
  /// Whether somebody's video is left unread.
  var leavesVideoUnread = false
  /// What has happened outside of engines.
  private var events: [(ParticipantID, PeerEvent)] = []
  /// What is on its way over lines that are impaired on purpose; nil when none is.
  var impaired: NetworkEmulator?
  /// Those to whom we have fallen silent on purpose: nothing of theirs is heard any more.
  private var forsaken: Set<ParticipantID> = []

  package init(_ configuration: Configuration) {
    self.configuration = configuration
    impaired = configuration.impairment.map(NetworkEmulator.init)
  }

  // MARK: Calls

  package func offer(to participant: ParticipantID, now: ContinuousClock.Instant) {
    guard let engine = engine(for: participant, offers: true, now: now) else { return }
    engine.offer(now: now)
    touch(engine)
  }

  /// Takes what a participant said. Of descriptions that come faster than they can be read only the newest counts.
  package func received(_ message: SignallingMessage, from participant: ParticipantID, now: ContinuousClock.Instant) {
    if case .answer = message, engines[participant] == nil { return }
    if let message = gates[participant, default: SignallingRateLimiter()].pass(message, now: now) {
      act(on: message, from: participant, now: now)
    }
  }

  private func act(on message: SignallingMessage, from participant: ParticipantID, now: ContinuousClock.Instant) {
    switch message {
    case .offer(let sdp):
      receivedOffer(sdp, from: participant, now: now)
    case .answer:
      if let engine = engines[participant] { give(message, to: engine, now: now) }
    case .candidate:
      if let engine = engine(for: participant, offers: false, now: now) { give(message, to: engine, now: now) }
    }
  }

  private func receivedOffer(_ sdp: String, from participant: ParticipantID, now: ContinuousClock.Instant) {
    var former: PeerConnection?
    if let engine = engines[participant], engine.needsNewEngine(forOffer: sdp) {
      former = engine
      engine.close(engine.endingForNewConnection, now: now)
      touch(engine)
      // Its last words are said with the next turn; from now on the name is another engine's.
      forget(engine)
    }
    guard let engine = engine(for: participant, offers: false, now: now) else { return }
    if let former { engine.inheritCheckAllowance(of: former) }
    give(.offer(sdp), to: engine, now: now)
  }

  private func give(_ message: SignallingMessage, to engine: PeerConnection, now: ContinuousClock.Instant) {
    engine.received(message, now: now)
    touch(engine)
  }

  /// Follows the signalling server's word that a participant is gone; see
  /// ``PeerConnection/participantLeft(returnIsVerified:now:)``.
  package func participantLeft(
    _ participant: ParticipantID, returnIsVerified: Bool = true, now: ContinuousClock.Instant
  ) {
    gates[participant]?.forgetWaiting()
    guard let engine = engines[participant] else { return }
    engine.participantLeft(returnIsVerified: returnIsVerified, now: now)
    touch(engine)
    endOldestDeparted(now: now)
  }

  /// Somebody who comes and goes under new names must not leave calls behind without end.
  private func endOldestDeparted(now: ContinuousClock.Instant) {
    let departed = engines.values.filter { $0.leftRoom != nil && $0.isOpen }
    guard departed.count > configuration.departedLimit,
      let oldest = departed.min(by: { one, other in
        one.leftRoom.map { left in other.leftRoom.map { left < $0 } ?? false } ?? false
      })
    else { return }
    oldest.close(
      CloseReason(
        .closedByParticipant,
        "The participant left the room, as \(configuration.departedLimit) others did after them."),
      now: now)
    touch(oldest)
  }

  package func send(_ frame: EncodedFrame, now: ContinuousClock.Instant) {
    if frame.codec == .vp8, configuration.media.sending.keyframeAnswer == .replay { groupOfPictures.add(frame) }
    for engine in engines.values {
      engine.send(frame, now: now)
      touch(engine)
    }
  }

  /// Sends a frame to one participant; its track's time has an origin of its own.
  package func send(_ frame: EncodedFrame, to participant: ParticipantID, now: ContinuousClock.Instant) {
    guard let engine = engines[participant] else { return }
    engine.send(frame, times: .ofTrack, now: now)
    touch(engine)
  }

  /// Asks one participant, or all of them, for a keyframe.
  package func requestKeyframe(of participant: ParticipantID?, now: ContinuousClock.Instant) {
    for engine in engines.values where participant == nil || engine.participant == participant {
      engine.requestKeyframe(now: now)
      touch(engine)
    }
  }

  package func disconnect(_ participant: ParticipantID, because ending: CloseReason, now: ContinuousClock.Instant) {
    gates[participant]?.forgetWaiting()
    guard let engine = engines[participant] else { return }
    engine.close(ending, now: now)
    touch(engine)
  }

  /// Takes an address at which one of our sockets is seen from outside.
  package func addServerReflexive(_ mapped: TransportAddress, base: TransportAddress) {
    reflexiveAddresses.append((mapped, base))
    for engine in engines.values {
      engine.addServerReflexive(mapped, base: base)
      touch(engine)
    }
  }

  /// Whether there is an engine of a participant, or one will be made of what they have said already.
  package func isConnecting(to participant: ParticipantID) -> Bool {
    engines[participant] != nil || gates[participant]?.deadline != nil
  }

  /// How many things are remembered of participants; 0 when nobody is there.
  package var footprint: Int {
    engines.count + gates.count + byUsernameFragment.count + byPath.count + touched.count + events.count
  }

  package var statistics: [PeerStatistics] {
    engines.values.map { engine in
      var statistics = engine.statistics
      statistics.impairment = impaired?.statistics(of: engine.participant)
      return statistics
    }
  }

  /// The participant's engine, a new one if necessary; nil if OpenSSL has no certificate for it.
  ///
  /// Each has a certificate of its own: to the participant a new engine with a known certificate would look like the old one.
  private func engine(
    for participant: ParticipantID, offers: Bool, now: ContinuousClock.Instant
  ) -> PeerConnection? {
    if let known = engines[participant] { return known }
    if forsaken.contains(participant) { return nil }
    let identity: DTLSIdentity
    do {
      identity = try DTLSIdentity()
    } catch {
      events.append((participant, .ended(CloseReason(.failed, error.description))))
      return nil
    }
    var settings = PeerConnection.Configuration(
      participant: participant, identity: identity,
      localAddresses: localAddresses.sorted { $0.description < $1.description }, sending: configuration.sending,
      isPolite: configuration.isPolite(participant))
    settings.receiving = configuration.receiving
    settings.allowsLocalCandidates = configuration.allowsLocalCandidates
    settings.media = configuration.media
    settings.faultInjector = configuration.faultInjector
    let engine = PeerConnection(
      settings, offers: offers, checkPace: configuration.checkPace, generator: configuration.makeGenerator())
    for (mapped, base) in reflexiveAddresses { engine.addServerReflexive(mapped, base: base) }
    engine.prime(groupOfPictures, now: now)
    engines[participant] = engine
    return engine
  }

  private func forget(_ engine: PeerConnection) {
    if engine.hasFallenSilent { forsaken.insert(engine.participant) }
    impaired?.ended(engine.participant)
    if engines[engine.participant] === engine { engines[engine.participant] = nil }
    byUsernameFragment = byUsernameFragment.filter { $0.value !== engine }
    byPath = byPath.filter { $0.value !== engine }
  }

  // MARK: Datagrams

  /// Takes a datagram that came to one of the sockets.
  ///
  /// - Parameter datagram: is decrypted in place; it should be nobody else's, or its bytes are copied first.
  package func received(
    _ datagram: inout ByteBuffer, from remote: TransportAddress, to local: TransportAddress, now: MonotonicInstant
  ) {
    if impaired != nil, !arrives(datagram, from: remote, to: local, now: now.instant) { return }
    deliver(&datagram, from: remote, to: local, now: now)
  }

  /// The same for who has no further use of the buffer.
  package func received(
    _ datagram: consuming ByteBuffer, from remote: TransportAddress, to local: TransportAddress,
    now: ContinuousClock.Instant
  ) {
    received(&datagram, from: remote, to: local, now: MonotonicInstant(now))
  }

  /// Gives a datagram to the engine that it is for.
  func deliver(
    _ datagram: inout ByteBuffer, from remote: TransportAddress, to local: TransportAddress, now: MonotonicInstant
  ) {
    let path = Path(local: local, remote: remote)
    let kind = PacketKind.of(datagram)
    if kind == .stun {
      guard let envelope = STUNEnvelope(datagram), let engine = owner(of: envelope, on: path) else { return }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      touch(engine)
      claim(path, for: engine, now: now.instant)
    } else if let engine = byPath[path] {
      if leavesVideoUnread, kind == .rtp, engine.leavesUnread(&datagram, now: now) { return }
      engine.received(&datagram, as: kind, from: remote, to: local, now: now)
      // Most packets only become part of a frame that is not complete yet.
      if kind == .rtp { engine.mediaChanged() }
      if kind != .rtp || engine.turnDue.map({ $0 <= now }) ?? true { touch(engine) }
    }
  }

  /// Gives an engine the path that a check has passed on.
  ///
  /// A path that is another engine's goes over only to one whose own check was answered there, which nobody can bring about who
  /// merely pretends to send from there. Then the other program has begun a new call, and the old one is over.
  private func claim(_ path: Path, for engine: PeerConnection, now: ContinuousClock.Instant) {
    if byPath[path] === engine { return }
    guard engine.isValidated(local: path.local, remote: path.remote) else { return }
    if let owner = byPath[path], owner !== engine {
      guard engine.path?.local == path.local, engine.path?.remote == path.remote else { return }
      owner.close(CloseReason(.connectionLost, "Another call has begun between the same addresses."), now: now)
      touch(owner)
    }
    if byPath.count >= Self.pathLimit { byPath = byPath.filter { $1.isValidated(local: $0.local, remote: $0.remote) } }
    byPath[path] = engine
  }

  /// Two addresses between which datagrams flow.
  private struct Path: Hashable {
    let local: TransportAddress
    let remote: TransportAddress

    /// Our own addresses are few: it is by the other one that paths differ.
    func hash(into hasher: inout Hasher) { hasher.combine(remote) }
  }

  /// Paths that are remembered before those that have ceased to be valid are thrown out.
  private static let pathLimit = 4096

  /// Whose a datagram is; nil if it is nobody's.
  func owner(of datagram: ByteBuffer, from remote: TransportAddress, to local: TransportAddress) -> PeerConnection? {
    let path = Path(local: local, remote: remote)
    guard PacketKind.of(datagram) == .stun else { return byPath[path] }
    return STUNEnvelope(datagram).flatMap { owner(of: $0, on: path) }
  }

  private func owner(of message: STUNEnvelope, on path: Path) -> PeerConnection? {
    if let recipient = message.recipient { return byUsernameFragment[recipient] }
    let likely = byPath[path]
    if let likely, likely.owns(transactionID: message.transactionID) { return likely }
    return engines.values.first { $0.owns(transactionID: message.transactionID) } ?? likely
  }

  // MARK: Turns

  func touch(_ engine: PeerConnection) {
    if engine.isInTurn { return }
    engine.isInTurn = true
    touched.append(engine)
  }

  /// Whether ``deadline`` may not be passed by some milliseconds: somebody is being connected, or packets are to leave at their own
  /// moment.
  package private(set) var isUrgent = false
  /// Whether somebody is in the first seconds of connecting.
  package private(set) var isConnecting = false

  /// Hands out what is to be done now: what engines want that something has happened to, or whose time has come.
  package func poll(
    now: ContinuousClock.Instant, wallClock: NTPTime, carryOut: (PeerConnection.Action, ParticipantID) -> Void
  ) {
    openGates(now: now)
    if impaired != nil { releaseDatagrams(now: now, carryOut: carryOut) }
    if let deadline, deadline <= now {
      let moment = MonotonicInstant(now)
      for engine in engines.values {
        if let due = engine.turnDue, due <= moment { touch(engine) }
      }
    }
    for (participant, event) in events { carryOut(.event(event), participant) }
    events.removeAll()
    var turn: [PeerConnection] = []
    swap(&turn, &touched)
    var actions: [PeerConnection.Action] = []
    for engine in turn {
      engine.isInTurn = false
      engine.poll(now: now, wallClock: wallClock, into: &actions)
      for action in actions {
        if impaired == nil || leaves(action, engine.participant, now: now) { carryOut(action, engine.participant) }
        if case .event(.ended) = action { forget(engine) }
      }
      actions.removeAll(keepingCapacity: true)
      noteUsernameFragments(of: engine)
    }
    schedule(now: MonotonicInstant(now))
  }

  private func schedule(now: MonotonicInstant) {
    var next = gates.isEmpty ? nil : gates.values.compactMap(\.deadline).min().map(MonotonicInstant.init)
    isUrgent = false
    isConnecting = false
    for engine in engines.values {
      if let due = engine.turnDue { next = next.map { min($0, due) } ?? due }
      if engine.isUrgent { isUrgent = true }
      if engine.isConnecting(now: now) { isConnecting = true }
    }
    if let due = impaired?.deadline.map(MonotonicInstant.init) {
      next = next.map { min($0, due) } ?? due
      isUrgent = true
    }
    deadline = next?.instant
  }

  /// Takes the descriptions whose time has come, and forgets the gates of those who have gone.
  private func openGates(now: ContinuousClock.Instant) {
    if gates.isEmpty { return }
    for participant in Array(gates.keys) {
      for message in gates[participant]?.open(now: now) ?? [] { act(on: message, from: participant, now: now) }
      if gates[participant]?.isIdle(now: now) == true { gates[participant] = nil }
    }
  }

  /// After an ICE restart an engine has another user fragment, and for a while the one before too.
  private func noteUsernameFragments(of engine: PeerConnection) {
    guard let fragments = engine.takeUsernameFragments(), engines[engine.participant] === engine,
      let newest = fragments.first, byUsernameFragment[newest] !== engine
    else { return }
    byUsernameFragment = byUsernameFragment.filter { $0.value !== engine }
    for fragment in fragments { byUsernameFragment[fragment] = engine }
  }
}
