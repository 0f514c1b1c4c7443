package import ICE
package import Media
package import NIOCore
internal import RTP
internal import Signalling

/// Everything between us and one participant, without I/O: negotiation, ICE, DTLS, SRTP and media in one place.
///
/// Datagrams, calls and points in time come in; ``poll(now:wallClock:)`` gives what is to be sent and what has happened, and
/// ``deadline`` says when it must be called next even if nothing comes in. Two engines joined in memory make a whole call.
///
/// ```
///            offer/answer            check succeeded          DTLS finished
///   new ───────────────► connecting ───────────────► (DTLS) ───────────────► connected ◄──► disconnected
///                             └────────── 30 s, or ICE or DTLS says no ─────────► failed
///                        any ── close, or close_notify ──────────────────────────► closed
/// ```
///
/// A class because it is an identity that holds C handles; it belongs to one event loop.
package final class PeerConnection {
  package struct Configuration: Sendable {
    package var participant: ParticipantID
    package var identity: DTLSIdentity
    /// The addresses of the sockets that datagrams can leave from.
    package var localAddresses: [TransportAddress]
    /// What we have to send.
    package var sending: Set<MediaKind>
    /// What we take of theirs.
    package var receiving = Set(MediaKind.allCases)
    /// Who gives way when both sides offer at once.
    package var isPolite: Bool
    /// Whether candidates are checked that lead into this machine or into a network without public addresses.
    package var allowsLocalCandidates = true
    /// How long connecting may take from the first offer or answer.
    package var connectingTimeout: Duration = .seconds(30)
    /// The SRTP protection profiles that we agree to, the best first.
    package var protectionProfiles = SRTPProfile.preferred
    package var media = MediaSession.Configuration()
    /// What injects a fault; nil for none. Copied for each engine.
    package var faultInjector: (any FaultInjector)?

    package init(
      participant: ParticipantID, identity: DTLSIdentity, localAddresses: [TransportAddress],
      sending: Set<MediaKind>, isPolite: Bool
    ) {
      self.participant = participant
      self.identity = identity
      self.localAddresses = localAddresses
      self.sending = sending
      self.isPolite = isPolite
    }
  }

  package enum Action: Sendable, Hashable {
    case transmit(ByteBuffer, from: TransportAddress, to: TransportAddress)
    case event(PeerEvent)
  }

  package let participant: ParticipantID
  package private(set) var state = ConnectionState.new

  let configuration: Configuration
  var negotiator: Negotiator
  var agent: ICEAgent
  /// When the agent wants to be asked; kept, because it takes long to find out. Nil when something has happened to it since.
  var agentDeadline: MonotonicInstant?
  var agentIsTouched = true
  var usernameFragmentsAreNew = true
  /// The path that the agent was last asked about and found valid.
  var validPath: Path?
  var secure: SecureTransport
  var media: MediaSession
  var actions: [Action] = []
  /// What media has requested and is not carried out yet.
  var outputs: [MediaSession.Output] = []
  /// Where datagrams leave and go; the chosen pair, or before there is one the pair on which the handshake came.
  var path: Path?
  /// Whether there was a path once whose other end does not answer any more.
  var hasLostPath = false
  /// Whether offer and answer have met.
  var hasExchangedDescriptions = false
  /// ``deadline`` as it was after the last turn, or sooner when media has come since that wants to be looked at sooner.
  private(set) var turnDue: MonotonicInstant?
  /// Whether, as of the last turn, what is due must not wait for some milliseconds.
  private(set) var isUrgent = false
  /// Whether the switchboard has noted that it is to be asked.
  var isInTurn = false
  /// Steps of connecting that have been told of.
  var milestones: Set<ConnectionMilestone> = []
  /// Whether an authentic RTP packet has come.
  var hasMedia = false
  /// When connecting has taken too long.
  var connectingDeadline: MonotonicInstant?
  /// The media section that trickled candidates are said to belong to: the one that carries the bundle.
  var firstSection = TrickledCandidate(candidate: "", mid: "0", mLineIndex: 0)
  /// How many of the local candidates have been sent by themselves.
  var trickledCount = 0
  /// What the participant's last description reports their connection.
  var remoteConnection: RemoteConnectionIdentity?
  /// When the signalling server said that the participant had left, unless they were heard of since.
  var leftRoom: MonotonicInstant?
  /// Whether the participant's id in the room may belong to somebody else by now: they left, and the server does not verify who
  /// takes an id again.
  var mayBeSomebodyElse = false
  /// When the last authentic RTP or RTCP packet came.
  var lastMediaArrival: MonotonicInstant?
  /// Whether the last of them was a goodbye.
  var hasSaidGoodbye = false
  /// Nil when no fault is injected.
  var faultInjector: (any FaultInjector)?
  /// Since when the participant's video is left unread, until when it was before, and how many packets of it.
  var unreadSince: MonotonicInstant?
  var lastUnread: MonotonicInstant?
  var packetsUnread: UInt64 = 0
  /// The last number of each source that was decrypted meanwhile.
  var unreadNumbers: [UInt32: UInt16] = [:]
  /// Whether we ended the call without telling anybody.
  var hasFallenSilent = false
  let checkPace: CheckPacer
  private var problems = RateLimiter(burst: 20, interval: .seconds(1))
  private var problemsUnsaid = 0
  private var framesSent: UInt64 = 0
  private var datagramsRefused: UInt64 = 0

  /// Two addresses between which datagrams flow.
  struct Path: Hashable {
    var local: TransportAddress
    var remote: TransportAddress
  }

  /// - Parameters:
  ///   - offers: whether we make the offer; the offerer is the controlling ICE agent (RFC 8445, 6.1.1).
  ///   - checkPace: shared by all engines of the program.
  ///   - generator: unpredictable outside tests: passwords and SSRCs come from it.
  package init(
    _ configuration: Configuration, offers: Bool, checkPace: CheckPacer = CheckPacer(),
    generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.configuration = configuration
    self.checkPace = checkPace
    participant = configuration.participant
    var generator = generator
    let local = LocalDescription(
      fingerprint: configuration.identity.fingerprint, sending: configuration.sending,
      receiving: configuration.receiving, using: &generator)
    agent = ICEAgent(
      role: offers ? .controlling : .controlled,
      credentials: local.credentials, tieBreaker: generator.next(), generator: generator)
    agent.allowsLocalCandidates = configuration.allowsLocalCandidates
    for address in configuration.localAddresses { agent.addLocalHost(address) }
    negotiator = Negotiator(local: local, isPolite: configuration.isPolite, generator: generator)
    for candidate in agent.localCandidates { negotiator.addLocalCandidate(candidate.attributeValue) }
    media = MediaSession(
      owner: configuration.participant, cname: local.cname, seed: generator.next(), configuration: configuration.media)
    secure = SecureTransport(identity: configuration.identity, profiles: configuration.protectionProfiles)
    faultInjector = configuration.faultInjector
  }

  /// Whether anything can still happen.
  var isOpen: Bool {
    switch state {
    case .new, .connecting, .connected, .disconnected: true
    case .failed, .closed: false
    }
  }

  /// Our user fragments, by which a STUN request on a shared socket is told to be for us.
  package var localUsernameFragments: [String] { agent.localUsernameFragments }

  /// The user fragments, if something may have changed them since they were taken last.
  func takeUsernameFragments() -> [String]? {
    guard usernameFragmentsAreNew else { return nil }
    usernameFragmentsAreNew = false
    return agent.localUsernameFragments
  }

  /// Whether a STUN response with this id answers a request of ours.
  package func owns(transactionID: STUNTransactionID) -> Bool {
    agent.owns(transactionID: transactionID)
  }

  /// Sends a frame of ours; its time is the media time since our source began.
  ///
  /// - Parameter times: whether audio and video are on one clock.
  package func send(_ frame: EncodedFrame, times: SendClock.Times = .shared, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    framesSent &+= 1
    media.send(frame, times: times, now: now)
  }

  /// Gives the frames since the last keyframe that others were sent before this participant came.
  package func prime(_ group: GroupOfPicturesCache, now: ContinuousClock.Instant) {
    guard isOpen, !group.isEmpty else { return }
    media.prime(group, now: now)
  }

  /// Asks the participant for a keyframe.
  package func requestKeyframe(now: ContinuousClock.Instant) {
    guard isOpen else { return }
    media.requestKeyframe(now: now)
  }

  /// Takes an address at which one of our sockets is seen from outside.
  package func addServerReflexive(_ mapped: TransportAddress, base: TransportAddress) {
    guard isOpen else { return }
    agentIsTouched = true
    agent.addServerReflexive(mapped: mapped, base: base)
    for candidate in agent.localCandidates.dropFirst(trickledCount) {
      negotiator.addLocalCandidate(candidate.attributeValue)
    }
    if state != .new { trickleLocalCandidates() }
  }

  /// Counts checks to addresses that never answered together with those of a former call of the same participant.
  func inheritCheckAllowance(of former: PeerConnection) { agent.inheritAllowance(of: former.agent) }

  /// Says goodbye and ends; the last datagrams and events come with the next ``poll(now:wallClock:)``.
  package func close(_ ending: CloseReason, now: ContinuousClock.Instant) {
    end(ending, now: now)
  }

  package var statistics: PeerStatistics {
    var statistics = PeerStatistics(participant: participant, state: state)
    statistics.received = media.receiveStatistics
    let sent = media.sendStatistics
    statistics.framesSent = framesSent
    statistics.packetsSent = sent.packetsSent
    statistics.bytesSent = sent.bytesSent
    statistics.fractionLost = sent.fractionLost
    statistics.packetsLost = sent.packetsLost
    statistics.keyframeRequests = sent.keyframeRequests
    statistics.targetBitrate = sent.targetBitrate
    statistics.roundTripTime = media.roundTripTime
    statistics.localAddress = path?.local.description
    statistics.remoteAddress = path?.remote.description
    statistics.protectionProfile = secure.profile?.description
    statistics.datagramsRefused = datagramsRefused
    statistics.packetsUnread = packetsUnread
    statistics.faultsInjected = faultInjector?.timesInjected ?? 0
    return statistics
  }

  /// Finds out when the next turn is due; called at the end of each.
  func scheduleTurn() {
    turnDue = nextTurn
    isUrgent = connectingDeadline != nil || media.isPacing
  }

  /// Whether a connection is being made, and each message is answered as soon as it comes: for the first seconds only, because
  /// some connect for long and in vain.
  func isConnecting(now: MonotonicInstant) -> Bool {
    guard let connectingDeadline else { return false }
    return now < connectingDeadline - configuration.connectingTimeout + Self.promptSpan
  }

  private static let promptSpan = Duration.seconds(3)

  /// Takes note that media has come: the next turn may be due sooner.
  func mediaChanged() {
    if let due = media.due { turnDue = turnDue.map { min($0, due) } ?? due }
  }

  func emit(_ event: PeerEvent) {
    actions.append(.event(event))
  }

  /// Says what of theirs cannot be used; of very many such things only some.
  func complain(_ sentence: String, now: ContinuousClock.Instant) {
    guard problems.take(now: now) else {
      problemsUnsaid += 1
      return
    }
    if problemsUnsaid > 0 { emit(.problem("\(problemsUnsaid) more things of theirs could not be used.")) }
    problemsUnsaid = 0
    emit(.problem(sentence))
  }

  /// Nothing has come for some time, or comes from somewhere else now: what media has missed was not lost on the way.
  func connectionWasInterrupted(now: ContinuousClock.Instant) {
    media.connectionWasInterrupted(now: now)
  }

  func refuseDatagram() {
    datagramsRefused &+= 1
  }

  func change(to state: ConnectionState) {
    guard self.state != state else { return }
    self.state = state
    emit(.stateChanged(state))
  }

  /// Ends everything: what media still holds comes out, goodbyes are sent where there is a path.
  func end(_ ending: CloseReason, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    let goodbyes = actions.count
    outputs = media.close(now: now)
    carryOutOutputs()
    transmit(secure.close())
    repeatGoodbyes(from: goodbyes)
    connectingDeadline = nil
    leftRoom = nil
    switch ending.cause {
    case .closedByUs, .closedByParticipant: change(to: .closed)
    case .connectionLost, .failed: change(to: .failed)
    }
    emit(.ended(ending))
  }
}
