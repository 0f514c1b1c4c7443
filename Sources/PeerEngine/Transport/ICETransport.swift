internal import ICE
internal import Media
internal import NIOCore

/// The network path to one participant (`RTCIceTransport`): the ICE agent, the path that it has selected, and whether the
/// participant can still be reached.
///
/// Datagrams, candidates and the time are inputs; each method returns what follows. After a call that
/// changes the agent, ``poll(now:)`` is due.
///
/// Getters and methods that are used for each packet or poll are mutating even if they change nothing, because Swift may
/// copy a value of this size before a nonmutating call.
struct ICETransport {
  /// Two addresses between which datagrams flow.
  struct Path: Hashable {
    var local: TransportAddress
    var remote: TransportAddress
  }

  typealias Update = SelectedPath.Update

  /// A timeout that has expired.
  enum Timeout {
    case connecting
    /// The participant has left the room and is silent.
    case departure
    case silence(SilenceMonitor.Step)
  }

  private(set) var ice: CachedAgent
  private(set) var presence = ParticipantPresence()
  private(set) var selected = SelectedPath()
  /// How many STUN messages are verified.
  var checkAllowance = ParticipantSTUNAllowance()
  /// Why no TURN server relays to us, in sentences; nil if one does or none is used.
  var relayFailure: String?

  private var silence = SilenceMonitor()
  /// When the timeout for connecting expires.
  private var connectingDeadline: MonotonicInstant?
  private var usernameFragmentsAreNew = true
  private let connectingTimeout: Duration
  private let restartsICE: Bool
  private let pace: CheckPacer

  /// - Parameters:
  ///   - localAddresses: those of the sockets that datagrams can leave from.
  ///   - connectingTimeout: the timeout for connecting, from the first offer or answer.
  ///   - pace: the pacer of ICE checks, shared by all engines of the program.
  init(
    _ agent: ICEAgent, settings: ICESettings, localAddresses: [TransportAddress], connectingTimeout: Duration,
    pace: CheckPacer
  ) {
    var agent = agent
    agent.allowsLocalCandidates = settings.allowsLocalCandidates
    agent.resolvesNames = settings.resolvesNames
    for address in localAddresses { agent.addLocalHost(address) }
    ice = CachedAgent(agent)
    restartsICE = settings.restartsICE
    self.connectingTimeout = connectingTimeout
    self.pace = pace
  }

  // MARK: Datagrams

  /// Handles a STUN message.
  mutating func received(
    _ message: ByteBuffer, from remote: TransportAddress, to local: TransportAddress, now: MonotonicInstant
  ) -> Update {
    let isAccepted = ice.agent.received(message, from: remote, to: local, now: now)
    var update = selected.update(from: ice.agent)
    update.isRefused = !isAccepted
    return update
  }

  /// Returns whether an ICE check has validated that the participant is at the other end of this path.
  mutating func isValidated(local: TransportAddress, remote: TransportAddress) -> Bool {
    ice.isValidated(local: local, remote: remote)
  }

  /// Returns whether a DTLS datagram is accepted from a path; the first path that may be used is then used for our own.
  mutating func acceptsHandshake(local: TransportAddress, remote: TransportAddress) -> Bool {
    guard ice.isValidated(local: local, remote: remote) else { return false }
    if selected.path == nil, ice.agent.hasAnswered(local: local, remote: remote) {
      selected.use(Path(local: local, remote: remote))
    }
    return true
  }

  /// Notes that an authentic RTP packet has arrived.
  mutating func mediaArrived(now: MonotonicInstant) { presence.mediaArrived(now: now) }

  /// Notes that an authentic RTCP packet has arrived; returns whether the participant, who has left, thereby ends the call.
  mutating func controlArrived(_ compound: ByteBuffer, now: MonotonicInstant) -> Bool {
    presence.controlArrived(compound, now: now)
    return presence.isGone(now: now)
  }

  /// Notes that something else of the participant has arrived, which shows that they are there, as media does.
  mutating func dataArrived(now: MonotonicInstant) { presence.dataArrived(now: now) }

  // MARK: Time

  /// When ``timeout(in:now:)`` or ``poll(now:)`` must be called next even if nothing arrives.
  mutating func deadline(in state: ConnectionState) -> MonotonicInstant? {
    let next =
      silence.knowsDeadline(in: state)
      ? silence.deadline : evidence(in: state).map { silence.deadline(of: $0, in: state) }
    let earliest = Deadline.earlier(ice.deadline, connectingDeadline)
    return Deadline.earlier(Deadline.earlier(earliest, presence.deadline), next)
  }

  /// Returns a timeout that has expired, if there is one, and follows the participant's silence.
  mutating func timeout(in state: ConnectionState, now: MonotonicInstant) -> Timeout? {
    if Deadline.isDue(connectingDeadline, now: now) { return .connecting }
    if presence.isGone(now: now) { return .departure }
    guard
      ice.hasChanged || !silence.knowsDeadline(in: state) || Deadline.isDue(silence.deadline, now: now)
    else { return nil }
    let step = silence.poll(evidence(in: state), in: state, now: now)
    if step.checksPath { ice.agent.checkSelectedPair(now: now) }
    return step.isLost || step.isInterrupted || step.restart != nil ? .silence(step) : nil
  }

  /// Returns what is due of the agent; nil if nothing is.
  mutating func poll(now: MonotonicInstant) -> Update? { ice.isDue(now: now) ? pollAgent(now: now) : nil }

  private mutating func pollAgent(now: MonotonicInstant) -> Update {
    let datagrams = ice.poll(now: now, pace: pace)
    var update = selected.update(from: ice.agent)
    update.datagrams = datagrams
    update.milestones = selected.takeMilestones(of: ice.agent)
    return update
  }

  /// What is known of the participant's silence; nil if there is no call to watch.
  private mutating func evidence(in state: ConnectionState) -> SilenceMonitor.Evidence? {
    guard restartsICE, presence.leftRoom == nil, state == .connected || state == .disconnected, let heard = lastHeard
    else { return nil }
    return SilenceMonitor.Evidence(
      heard: heard, lastAnswered: ice.agent.lastAnswered,
      unansweredSince: ice.agent.unansweredSince,
      hasLocalAddress: !ice.agent.localCandidates.isEmpty)
  }

  /// When something authentic of the participant last arrived.
  private var lastHeard: MonotonicInstant? {
    mutating get {
      let checked = ice.agent.lastHeard
      guard let arrival = presence.lastArrival else { return checked }
      return checked.map { max($0, arrival) } ?? arrival
    }
  }

  // MARK: Connecting and ending

  /// Starts the timeout for connecting.
  mutating func beginConnecting(now: MonotonicInstant) { connectingDeadline = now + connectingTimeout }

  /// Whether the timeout for connecting runs.
  var isConnecting: Bool { mutating get { connectingDeadline != nil } }

  /// Until when each message must be answered at once. This holds only for the first seconds of connecting, because some
  /// connect for long and in vain.
  var promptDeadline: MonotonicInstant? {
    mutating get {
      guard let connectingDeadline else { return nil }
      return connectingDeadline - connectingTimeout + Self.promptSpan
    }
  }

  private static let promptSpan = Duration.seconds(3)

  /// Notes that DTLS is established: connecting is over.
  mutating func connected() { connectingDeadline = nil }

  /// Notes that the participant has left the room; returns whether that ends a connected call at once.
  mutating func participantLeft(now: MonotonicInstant) -> Bool {
    presence.left(now: now)
    return presence.isGone(now: now)
  }

  /// Notes that the participant, who sends a message or is called, is in the room.
  mutating func participantReturned() { presence.returned() }

  /// Gives the path up, because the participant is not reached any more; returns why, in a sentence.
  mutating func giveUp(now: MonotonicInstant) -> String {
    // Without consent no goodbye may be sent (RFC 7675, 5.1).
    selected.giveUp()
    return SilenceMonitor.cause(
      heard: lastHeard, lastAnswered: ice.agent.lastAnswered, now: now)
  }

  /// Ends all timeouts.
  mutating func end() {
    connectingDeadline = nil
    presence.returned()
  }

  // MARK: Negotiated sessions

  /// Our user fragments, which identify the STUN requests on a shared socket that are for us.
  var usernameFragments: [String] { ice.agent.localUsernameFragments }

  /// Returns the user fragments if they may have changed since the last call.
  mutating func takeUsernameFragments() -> [ByteBuffer]? {
    guard usernameFragmentsAreNew else { return nil }
    usernameFragmentsAreNew = false
    return ice.agent.localFragmentBytes
  }

  /// Makes the agent answer checks with the credentials of an offer of ours before its answer arrives.
  mutating func setOffered(_ credentials: ICECredentials?) {
    ice.agent.setOffered(credentials)
    usernameFragmentsAreNew = true
  }

  /// Applies the result of an exchange of descriptions.
  ///
  /// - Parameter isOfferer: whether the offer was ours.
  mutating func apply(_ session: NegotiatedSession, isOfferer: Bool, now: MonotonicInstant) {
    if session.isICERestart {
      ice.agent.restart(with: session.localCredentials, now: now)
      if !isOfferer { silence.participantRestarted(now: now) }
    }
    ice.agent.setRemote(
      usernameFragment: session.remoteUsernameFragment, password: session.remotePassword,
      isLite: session.remoteIsLite, now: now)
    for line in session.remoteCandidates {
      guard let candidate = try? ICECandidate(parsing: line) else { continue }
      addRemoteCandidate(candidate, now: now)
    }
    usernameFragmentsAreNew = true
  }

  mutating func addRemoteCandidate(_ candidate: ICECandidate, now: MonotonicInstant) {
    ice.agent.addRemoteCandidate(candidate, now: now)
  }

  /// Handles the addresses of a name; returns whether a candidate waited for it.
  mutating func resolved(_ name: String, to addresses: [IPAddress], now: MonotonicInstant) -> Bool {
    ice.agent.resolved(name, to: addresses, now: now)
  }

  /// Returns the names of the participant's candidates to look up.
  mutating func takeNamesToResolve() -> [String] { ice.takeNamesToResolve() }

  /// Counts unanswered checks together with those of a former call of the same participant.
  mutating func inheritCheckAllowance(of former: ICETransport) { ice.agent.inheritAllowance(of: former.ice.agent) }

  // MARK: Local addresses

  /// Restarts ICE as soon as possible.
  mutating func requestRestart(_ reason: ICERestartReason) { silence.requestRestart(reason) }

  /// Restarts ICE if there was a path: the participant checks a new address of ours only in a new session.
  private mutating func restartIfLost() {
    if selected.isLost { silence.requestRestart(.pathLost) }
  }

  mutating func addLocalHost(_ address: TransportAddress, now: MonotonicInstant) -> ICECandidate? {
    defer { restartIfLost() }
    return ice.agent.addLocalHost(address, now: now)
  }

  mutating func addRelayed(_ relay: RelayedAddress, now: MonotonicInstant) -> ICECandidate? {
    defer { restartIfLost() }
    return ice.agent.addRelayed(relay, now: now)
  }

  mutating func addServerReflexive(_ mapped: TransportAddress, base: TransportAddress) -> ICECandidate? {
    ice.agent.addServerReflexive(mapped: mapped, base: base)
  }

  mutating func setNAT64(_ prefix: NAT64Prefix?, now: MonotonicInstant) {
    ice.agent.setNAT64(prefix, now: now)
    if prefix != nil { restartIfLost() }
  }

  /// Removes a local address, and returns the candidates based on it with their former indices. If media was sent from it,
  /// ICE is restarted, so that the participant looks for another path at once, too.
  mutating func removeLocal(
    _ address: TransportAddress, now: MonotonicInstant
  ) -> [(index: Int, candidate: ICECandidate)] {
    if selected.path?.local == address { silence.requestRestart(.pathLost) }
    return ice.agent.removeLocal(address, now: now)
  }

  /// Retires a relayed address, and returns the candidates based on it with their former indices. If media is sent from it,
  /// ICE is restarted, so that both sides move to another path while this one still works.
  mutating func retireRelayed(
    _ address: TransportAddress, in state: ConnectionState
  ) -> [(index: Int, candidate: ICECandidate)] {
    // Checks that are under way may still select it.
    if selected.path.map({ $0.local == address }) ?? (state == .connecting) { silence.requestRestart(.requested) }
    return ice.agent.retireLocal(address)
  }

  /// Notes that the TCP connection of a path was not established or has ended. Another path may take over at once.
  mutating func connectionEnded(
    local: TransportAddress, remote: TransportAddress, now: MonotonicInstant
  ) -> Update {
    ice.agent.connectionEnded(local: local, remote: remote, now: now)
    defer { restartIfLost() }
    return pollAgent(now: now)
  }

  /// Whether media may still be sent from a local address or arrive there.
  func uses(_ address: TransportAddress, in state: ConnectionState) -> Bool {
    selected.path?.local == address || ice.agent.uses(address) || selected.path == nil && state == .connecting
  }

  func owns(transactionID: STUNTransactionID) -> Bool { ice.agent.owns(transactionID: transactionID) }
}
