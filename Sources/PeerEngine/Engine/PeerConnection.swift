package import ICE
package import Media
package import NIOCore
internal import RTP
internal import Signalling

/// The connection to one participant, without I/O: negotiation, ICE, DTLS, SRTP and media.
///
/// Datagrams, calls and the current time are passed in; ``poll(now:wallClock:)`` returns what to send and what has
/// happened, and ``deadline`` says when it must be called next even if nothing arrives. Two engines joined in memory make a
/// whole call.
///
/// ```
///            offer/answer            check succeeded          DTLS finished
///   new ───────────────► connecting ───────────────► (DTLS) ───────────────► connected ◄──► disconnected
///                             └────────── 30 s, or ICE or DTLS fails ──────────────► failed
///                        any ── close, or close_notify ──────────────────────────► closed
/// ```
///
/// A class because it has an identity and owns C handles; it belongs to one event loop.
package final class PeerConnection {
  package struct Configuration: Sendable {
    package var participant: ParticipantID
    package var identity: DTLSIdentity
    /// The local addresses of the sockets that datagrams can leave from.
    package var localAddresses: [TransportAddress]
    /// Whether we give way when both sides offer at once.
    package var isPolite: Bool
    /// Whether all messages under the participant's id are from the same participant: see
    /// `SignalledParticipant.isIdentityVerified`.
    package var isIdentityVerified = false
    /// The timeout for connecting, from the first offer or answer.
    package var connectingTimeout: Duration = .seconds(30)
    /// The SRTP protection profiles that we accept, the best first.
    package var protectionProfiles = SRTPProfile.preferred
    package var policy: ConnectionPolicy

    package init(
      participant: ParticipantID, identity: DTLSIdentity, localAddresses: [TransportAddress], isPolite: Bool,
      policy: ConnectionPolicy = ConnectionPolicy()
    ) {
      self.participant = participant
      self.identity = identity
      self.localAddresses = localAddresses
      self.isPolite = isPolite
      self.policy = policy
    }
  }

  package enum Action: Sendable, Hashable {
    case transmit(ByteBuffer, from: TransportAddress, to: TransportAddress)
    case event(PeerEvent)
    case dataChannel(DataChannelAction)
  }

  package let participant: ParticipantID
  package private(set) var state = ConnectionState.new

  let configuration: Configuration
  var negotiator: Negotiator
  var agent: ICEAgent
  /// When the next poll is due, and why.
  var timing = ConnectionTiming()
  var usernameFragmentsAreNew = true
  var checkAllowance = ParticipantSTUNAllowance()
  /// The path that the agent last reported as valid.
  var validPath: Path?
  var secure: SecureTransport
  var media: MediaSession
  var channels: DataChannelSession
  var actions: [Action] = []
  /// Outputs of the media session that are not carried out yet.
  var outputs: [MediaSession.Output] = []
  /// The path of outgoing datagrams: the selected pair, or before there is one the pair on which the handshake arrived.
  var path: Path?
  /// The types of the candidates of the pair that was selected last.
  var candidateTypes: CandidateTypes?
  /// Whether there was a path whose other end no longer responds.
  var hasLostPath = false
  /// Whether offer and answer have been exchanged.
  var hasExchangedDescriptions = false
  /// When our last offer that followed an answered one was sent.
  var lastOffer: MonotonicInstant?
  /// Whether the participant has answered an offer during the call.
  var hasAnsweredLaterOffer = false
  /// Whether the demultiplexer has queued this engine for its next poll.
  var isQueuedForPoll = false
  /// Nil if the demultiplexer's schedule does not have this engine.
  var scheduleEntry: ScheduledPoll?
  /// The milestones that have been reported.
  var milestones: Set<ConnectionMilestone> = []
  /// Whether an authentic RTP packet has arrived.
  var hasMedia = false
  /// The media section that trickled candidates name: the one that carries the bundle.
  var firstSection = TrickledCandidate(candidate: "", mid: "0", mLineIndex: 0)
  /// How many of the local candidates have been trickled.
  var trickledCount = 0
  /// The connection that the participant's last description belongs to.
  var remoteConnection: RemoteConnectionIdentity?
  /// Whether the participant's id may belong to another participant by now: the signalling verifies nobody, or they left,
  /// and it does not verify who uses an id again.
  var isIdentityUncertain: Bool
  /// Nil when no fault is injected.
  var faultInjector: (any FaultInjector)?
  /// Since when the participant's video is suspended; nil if it is not.
  var suspendedSince: MonotonicInstant?
  /// When the participant's video was last resumed.
  var lastResumed: MonotonicInstant?
  /// How many packets were discarded while the video was suspended.
  var packetsDiscarded: UInt64 = 0
  /// The sequence number of the last packet of each source that was decrypted while the video was suspended.
  var lastDecryptedNumbers: [UInt32: UInt16] = [:]
  /// Whether we ended the call without sending anything.
  var isSilenced = false
  /// Why no TURN server relays to us, in sentences; nil if one does or none is used.
  package var relayFailure: String?
  let checkPace: CheckPacer
  var restartTrigger = ICERestartTrigger()
  var rejections = RejectionReporter()
  var hasReportedOrientation = false
  private var problems = RateLimiter(burst: 20, interval: .seconds(1))
  private var suppressedProblems = 0
  private var framesSent: UInt64 = 0
  private var datagramsRefused: UInt64 = 0

  /// Two addresses between which datagrams flow.
  struct Path: Hashable {
    var local: TransportAddress
    var remote: TransportAddress
  }

  /// - Parameters:
  ///   - offers: whether we send the offer; the offerer is the controlling ICE agent (RFC 8445, 6.1.1).
  ///   - checkPace: the pacer of ICE checks, shared by all engines of the program.
  ///   - generator: the generator of passwords and SSRCs; must be unpredictable outside tests.
  package init(
    _ configuration: Configuration, offers: Bool, checkPace: CheckPacer = CheckPacer(),
    generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.configuration = configuration
    self.checkPace = checkPace
    participant = configuration.participant
    var generator = generator
    let policy = configuration.policy
    let local = LocalDescription(
      fingerprint: configuration.identity.fingerprint, tracks: policy.tracks,
      data: policy.dataChannels.map { options in
        LocalData(isOffered: !options.opened.isEmpty, maximumMessageBytes: options.maximumMessageBytes)
      }, using: &generator)
    agent = ICEAgent(
      role: offers ? .controlling : .controlled,
      credentials: local.credentials, tieBreaker: generator.next(), generator: generator)
    agent.allowsLocalCandidates = policy.ice.allowsLocalCandidates
    agent.resolvesNames = policy.ice.resolvesNames
    for address in configuration.localAddresses { agent.addLocalHost(address) }
    negotiator = Negotiator(local: local, isPolite: configuration.isPolite, generator: generator)
    for candidate in agent.localCandidates {
      if let text = configuration.policy.ice.signalledText(of: candidate) { negotiator.addLocalCandidate(text) }
    }
    media = MediaSession(
      owner: configuration.participant, cname: local.cname, seed: generator.next(), configuration: policy.media)
    channels = DataChannelSession(options: policy.dataChannels)
    secure = SecureTransport(identity: configuration.identity, profiles: configuration.protectionProfiles)
    faultInjector = policy.faultInjector
    isIdentityUncertain = !configuration.isIdentityVerified
  }

  /// Whether the connection has not ended.
  var isOpen: Bool {
    switch state {
    case .new, .connecting, .connected, .disconnected: true
    case .failed, .closed: false
    }
  }

  /// Our user fragments, which identify the STUN requests on a shared socket that are for us.
  package var localUsernameFragments: [String] { agent.localUsernameFragments }

  /// Returns the user fragments if they may have changed since the last call.
  func takeUsernameFragments() -> [ByteBuffer]? {
    guard usernameFragmentsAreNew else { return nil }
    usernameFragmentsAreNew = false
    return agent.localFragmentBytes
  }

  /// Returns whether a STUN response with this id answers a request of ours.
  package func owns(transactionID: STUNTransactionID) -> Bool {
    agent.owns(transactionID: transactionID)
  }

  /// Sends a frame; its time is the media time since our source began.
  ///
  /// - Parameter times: whether audio and video are on one clock.
  package func send(_ frame: EncodedFrame, times: SendClock.Times = .shared, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    framesSent &+= 1
    media.send(frame, times: times, now: now)
  }

  /// Passes on the frames since the last keyframe, which others received before this participant joined.
  package func prime(_ group: GroupOfPicturesCache, now: ContinuousClock.Instant) {
    guard isOpen, !group.isEmpty else { return }
    media.prime(group, now: now)
  }

  /// Requests a keyframe from the participant.
  package func requestKeyframe(now: ContinuousClock.Instant) {
    guard isOpen else { return }
    media.requestKeyframe(now: now)
  }

  /// Adds a server-reflexive address of one of our sockets.
  package func addServerReflexive(_ mapped: TransportAddress, base: TransportAddress) {
    guard isOpen else { return }
    timing.agentIsTouched = true
    if let candidate = agent.addServerReflexive(mapped: mapped, base: base) { signal(candidate) }
  }

  /// Counts unanswered checks together with those of a former call of the same participant.
  func inheritCheckAllowance(of former: PeerConnection) { agent.inheritAllowance(of: former.agent) }

  /// Sends goodbyes and ends the connection; the next ``poll(now:wallClock:)`` returns the last datagrams and events.
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
    if path != nil { statistics.candidateTypes = candidateTypes }
    if path == nil { statistics.unreachableReason = unreachableReason }
    statistics.protectionProfile = secure.profile?.description
    statistics.rejectedSections = rejections.reported
    statistics.datagramsRefused = datagramsRefused
    statistics.packetsDiscarded = packetsDiscarded
    statistics.faultsInjected = faultInjector?.timesInjected ?? 0
    return statistics
  }

  /// Updates when the next poll is due; called at the end of each.
  func schedulePoll() {
    let due = monotonicDeadline
    let isBusy = media.isPacing || channels.isBusy
    timing.scheduled(due, isBusy: isBusy)
  }

  /// Returns whether the connection is being established and each message must be answered at once. This holds only for the
  /// first seconds, because some connect for long and in vain.
  func isConnecting(now: MonotonicInstant) -> Bool {
    guard let connectingDeadline = timing.connectingDeadline else { return false }
    return now < connectingDeadline - configuration.connectingTimeout + Self.promptSpan
  }

  /// How long after the start of connecting each message is answered at once.
  private static let promptSpan = Duration.seconds(3)

  /// Updates when the next poll is due after media has arrived: it may be sooner.
  func mediaChanged(now: MonotonicInstant) -> (isSooner: Bool, isDue: Bool) {
    let due = media.due
    return timing.mediaChanged(due: due, now: now)
  }

  func emit(_ event: PeerEvent) {
    actions.append(.event(event))
  }

  /// Reports an unusable message; when there are very many, only some are reported.
  func reportProblem(_ sentence: String, now: ContinuousClock.Instant) {
    guard problems.take(now: now) else {
      suppressedProblems += 1
      return
    }
    if suppressedProblems > 0 {
      emit(.problem("\(suppressedProblems) more messages of the participant could not be used."))
    }
    suppressedProblems = 0
    emit(.problem(sentence))
  }

  /// Notes that nothing has arrived for some time, or that datagrams now arrive on another path: media that is missing was
  /// not lost packet by packet.
  func connectionWasInterrupted(now: ContinuousClock.Instant) {
    media.connectionWasInterrupted(now: now)
  }

  func refuseDatagram() {
    datagramsRefused &+= 1
  }

  func change(to state: ConnectionState) {
    guard self.state != state else { return }
    self.state = state
    timing.silenceDeadlineIsValid = false
    emit(.stateChanged(state))
  }

  /// Ends everything: emits what media still buffers, and sends goodbyes if there is a path.
  func end(_ ending: CloseReason, now: ContinuousClock.Instant) {
    guard isOpen else { return }
    let goodbyes = actions.count
    outputs = media.close(now: now)
    carryOutOutputs()
    channels.end()
    reportDataChannels(now: MonotonicInstant(now))
    transmit(secure.close())
    repeatGoodbyes(from: goodbyes)
    timing.connectingDeadline = nil
    timing.leftRoom = nil
    switch ending.cause {
    case .closedByUs, .closedByParticipant: change(to: .closed)
    case .connectionLost, .failed: change(to: .failed)
    }
    emit(.ended(ending))
  }
}
