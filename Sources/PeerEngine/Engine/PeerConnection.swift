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
    /// Events of received media, in order.
    case media([MediaEvent])
    case dataChannel(DataChannelAction)
  }

  typealias Path = ICETransport.Path

  package let participant: ParticipantID
  package private(set) var state = ConnectionState.new
  let configuration: Configuration

  // The parts. Each has its own state and deadline; the connection passes on what follows from one for the others.
  var transport: ICETransport
  package internal(set) var secure: SecureTransport
  var media: MediaSession
  var channels: DataChannelSession
  var negotiation: PeerNegotiation
  /// The kinds of media that the participant sends, as last reported; nil before the first report.
  var announcedMedia: Set<MediaKind>?

  var actions: [Action] = []
  /// Outputs of the media session that are not carried out yet.
  var outputs: [MediaSession.Output] = []
  var pollState = PollState()
  /// What stands between the connection and the signalling, in order.
  var interceptors: [any ConnectionInterceptor]
  /// Whether there are interceptors. A constant, because each access to a variable of a class is checked.
  let isIntercepted: Bool
  /// Whether we ended the call without sending anything.
  var isSilenced = false
  var datagramsRefused: UInt64 = 0
  private var problems = ProblemLimiter()

  /// - Parameters:
  ///   - offers: whether we send the offer; the offerer is the controlling ICE agent (RFC 8445, 6.1.1).
  ///   - checkPace: the pacer of ICE checks, shared by all engines of the program.
  ///   - generator: the generator of passwords and SSRCs; must be unpredictable outside tests.
  package init(
    _ configuration: Configuration, offers: Bool, checkPace: CheckPacer = CheckPacer(),
    generator: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.configuration = configuration
    participant = configuration.participant
    var generator = generator
    let policy = configuration.policy
    let local = LocalDescription(
      fingerprint: configuration.identity.fingerprint, tracks: policy.tracks,
      data: policy.dataChannels.map { options in
        LocalData(isOffered: !options.opened.isEmpty, maximumMessageBytes: options.maximumMessageBytes)
      }, using: &generator)
    let agent = ICEAgent(
      role: offers ? .controlling : .controlled,
      credentials: local.credentials, tieBreaker: generator.next(), generator: generator)
    negotiation = PeerNegotiation(
      Negotiator(local: local, isPolite: configuration.isPolite, generator: generator), settings: policy.ice,
      isIdentityVerified: configuration.isIdentityVerified)
    transport = ICETransport(
      agent, settings: policy.ice, localAddresses: configuration.localAddresses,
      connectingTimeout: configuration.connectingTimeout, pace: checkPace)
    for candidate in transport.ice.agent.localCandidates { negotiation.add(candidate) }
    media = MediaSession(
      owner: configuration.participant, cname: local.cname, seed: generator.next(), configuration: policy.media)
    channels = DataChannelSession(options: policy.dataChannels)
    secure = SecureTransport(identity: configuration.identity, profiles: configuration.protectionProfiles)
    media.interceptors = RTPInterceptorChain(policy.interceptors.compactMap(\.rtp))
    interceptors = policy.interceptors.compactMap(\.connection)
    isIntercepted = !interceptors.isEmpty
  }

  /// Whether the connection has not ended.
  var isOpen: Bool {
    switch state {
    case .new, .connecting, .connected, .disconnected: true
    case .failed, .closed: false
    }
  }

  /// Why no TURN server relays to us, in sentences; nil if one does or none is used.
  package var relayFailure: String? {
    get { transport.relayFailure }
    set { transport.relayFailure = newValue }
  }

  /// Sends a frame; its time is the media time since our source began.
  ///
  /// - Parameter times: whether audio and video are on one clock.
  package func send(_ frame: EncodedFrame, times: SendClock.Times = .shared, now: MonotonicInstant) {
    guard isOpen else { return }
    media.send(frame, times: times, now: now)
  }

  /// Passes on the frames since the last keyframe, which others received before this participant joined.
  package func prime(_ group: GroupOfPicturesCache, now: MonotonicInstant) {
    guard isOpen, !group.isEmpty else { return }
    media.prime(group, now: now)
  }

  /// Requests a keyframe from the participant.
  package func requestKeyframe(now: MonotonicInstant) {
    guard isOpen else { return }
    media.requestKeyframe(now: now)
  }

  package var statistics: PeerStatistics {
    var statistics = PeerStatistics(participant: participant, state: state)
    statistics.received = media.receiveStatistics
    let sent = media.sendStatistics
    statistics.framesSent = sent.framesSent
    statistics.packetsSent = sent.packetsSent
    statistics.bytesSent = sent.bytesSent
    statistics.fractionLost = sent.fractionLost
    statistics.packetsLost = sent.packetsLost
    statistics.receptionReports = sent.receptionReports
    statistics.keyframeRequests = sent.keyframeRequests
    statistics.targetBitrate = sent.targetBitrate
    statistics.roundTripTime = media.roundTripTime
    if let path {
      statistics.localAddress = path.local.description
      statistics.remoteAddress = path.remote.description
      statistics.candidateTypes = transport.selected.candidateTypes
    } else if isOpen {
      statistics.unreachableReason = transport.unreachableReason
    }
    statistics.protectionProfile = secure.profile?.description
    statistics.rejectedSections = negotiation.rejectedSections
    statistics.datagramsRefused = datagramsRefused
    statistics.packetsDiscarded = media.suspension.packetsDiscarded
    if isIntercepted { statistics.interventions = interceptors.reduce(0) { $0 &+ $1.interventions } }
    return statistics
  }

  func emit(_ event: PeerEvent) {
    actions.append(.event(event))
  }

  /// Reports an unusable message; when there are very many, only some are reported.
  func reportProblem(_ sentence: String, now: MonotonicInstant) {
    for sentence in problems.report(sentence, now: now) { emit(.problem(sentence)) }
  }

  func change(to state: ConnectionState) {
    guard self.state != state else { return }
    self.state = state
    emit(.stateChanged(state))
  }
}

/// Limits how many problems of a participant are reported.
private struct ProblemLimiter {
  private var limiter = TokenBucket(burst: 20, interval: .seconds(1))
  private var suppressed = 0

  /// Returns the sentences to report: none, or this one, after one that counts those that were not reported.
  mutating func report(_ sentence: String, now: MonotonicInstant) -> [String] {
    guard limiter.consume(now: now) else {
      suppressed += 1
      return []
    }
    defer { suppressed = 0 }
    return suppressed > 0
      ? ["\(suppressed) more messages of the participant could not be used.", sentence] : [sentence]
  }
}
