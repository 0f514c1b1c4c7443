package import ICE
package import Media
internal import NIOCore
package import SCTP
package import Signalling

/// Owns the engines of all participants and assigns each datagram and message to one. It does no I/O, like the engines: its
/// owner, who has the sockets and the clock, passes datagrams in and out.
///
/// Participants share sockets and are distinguished by STUN user names and by network paths. None of them can harm the
/// others: what is stored for each is bounded, and their messages are handled at a limited rate.
package final class PeerDemultiplexer {
  package struct Configuration {
    /// What applies to every connection.
    package var policy: ConnectionPolicy
    package var isPolite: @Sendable (ParticipantID) -> Bool = { _ in true }
    /// How many participants may continue a call after they have left the room: as many as a room has when its server is
    /// lost.
    package var departedLimit = 256
    /// Shared by all engines that send ICE checks.
    package var checkPace = CheckPacer()
    /// Makes the generator of passwords and SSRCs; must be unpredictable outside tests.
    package var makeGenerator: () -> any RandomNumberGenerator & Sendable = { SystemRandomNumberGenerator() }

    package init(
      policy: ConnectionPolicy = ConnectionPolicy(),
      isPolite: @escaping @Sendable (ParticipantID) -> Bool = { _ in true }
    ) {
      self.policy = policy
      self.isPolite = isPolite
    }
  }

  /// The local addresses of the sockets that datagrams can leave from; those of TCP are as
  /// ``ICE/ICEAgent/addLocalHost(_:now:)`` describes.
  package var localAddresses: [TransportAddress] = []
  package private(set) var engines: [ParticipantID: PeerConnection] = [:]
  /// When and how promptly the next poll is due; updated by each poll.
  var timing = PollTiming()
  /// When ``poll(now:wallClock:carryOut:)`` must be called next even if nothing arrives; updated by each poll.
  package var deadline: MonotonicInstant? { timing.deadline }
  /// Whether ``deadline`` must be met to the millisecond: a connection is being established, or packets are paced.
  package var isUrgent: Bool { timing.isUrgent }
  /// Whether any participant is in the first seconds of connecting.
  package var isConnecting: Bool { timing.isConnecting }

  /// Why no TURN server relays to us, in sentences; nil if one does or none is used.
  package var relayFailure: String? {
    didSet { for engine in engines.values { engine.relayFailure = relayFailure } }
  }

  private let configuration: Configuration
  var rateLimiters = SignallingRateLimiters()
  /// The engines by the first half of a STUN request's USERNAME.
  var byUsernameFragment: [ByteBuffer: PeerConnection] = [:]
  /// The engines by path, for all other datagrams: an engine owns a path once a check has succeeded on it.
  var byPath: [Path: PeerConnection] = [:]
  var awaitedResponses = AwaitedResponses()
  var unknownChecks = UnknownCheckAllowance()
  /// How many datagrams belonged to no participant, or were more STUN messages than are verified.
  package internal(set) var datagramsDropped: UInt64 = 0
  var reflexiveAddresses: [(mapped: TransportAddress, base: TransportAddress)] = []
  static let maximumReflexiveAddresses = 64
  var relayedAddresses: [RelayedAddress] = []
  var nat64: NAT64Prefix?
  /// The frames of each of our streams that a viewer who joins now needs to decode the current frame.
  private var groupsOfPictures: [Int: GroupOfPicturesCache] = [:]
  /// When the engines in ``engines`` must be polled.
  var schedule = PollSchedule()
  /// The engines to which something has happened since their last poll.
  var enginesToPoll: [PeerConnection] = []
  var namesToResolve: [String] = []
  var overload = OverloadController()
  /// Whether any participant's video is suspended.
  var hasSuspendedVideo = false
  /// What the signalling says of participants, if it says more than an id.
  private var announcements: [ParticipantID: Announcement] = [:]
  private static let maximumAnnouncements = 4_096
  /// Actions that are not those of an engine.
  var ownActions: [(action: PeerConnection.Action, participant: ParticipantID)] = []
  /// The participants to whom we have stopped sending on purpose: their messages and datagrams are ignored.
  private var silencedParticipants: Set<ParticipantID> = []

  package init(_ configuration: Configuration) {
    self.configuration = configuration
  }

  private struct Announcement: Hashable {
    var direction = SignalledParticipant.Direction.sendReceive
    var isIdentityVerified = false
    var forwardsMedia = false
  }

  /// Two addresses between which datagrams flow.
  struct Path: Hashable {
    let local: TransportAddress
    let remote: TransportAddress

    /// Hashes only the remote address: we have few local addresses, so paths differ by the remote one.
    func hash(into hasher: inout Hasher) { hasher.combine(remote) }
  }

  /// The number of paths at which those that are no longer valid are removed.
  static let pathLimit = 4096

  // MARK: Calls

  /// Notes what the signalling says of a participant, for their next connection.
  package func announce(_ participant: SignalledParticipant) {
    let announcement = Announcement(
      direction: participant.direction, isIdentityVerified: participant.isIdentityVerified,
      forwardsMedia: participant.forwardsMedia)
    if announcement == Announcement() {
      announcements[participant.id] = nil
    } else if announcements.count < Self.maximumAnnouncements || announcements[participant.id] != nil {
      announcements[participant.id] = announcement
    }
  }

  /// Handles the signalling server's message that a participant is gone; see
  /// ``PeerConnection/participantLeft(isRejoinVerified:now:)``.
  package func participantLeft(
    _ participant: ParticipantID, isRejoinVerified: Bool = true, now: MonotonicInstant
  ) {
    rateLimiters.forgetWaiting(participant)
    announcements[participant] = nil
    guard let engine = engines[participant] else { return }
    engine.participantLeft(isRejoinVerified: isRejoinVerified, now: now)
    markForPoll(engine)
    endOldestDeparted(now: now)
  }

  /// Ends the oldest call of a departed participant: one who joins and leaves under new ids must not leave an unlimited
  /// number of calls.
  private func endOldestDeparted(now: MonotonicInstant) {
    let departed = engines.values.filter { $0.leftRoom != nil && $0.isOpen }
    guard departed.count > configuration.departedLimit,
      let oldest = departed.min(by: { one, other in
        one.leftRoom.map { left in other.leftRoom.map { left < $0 } ?? false } ?? false
      })
    else { return }
    oldest.close(
      CloseReason(
        .closedByParticipant,
        "The participant left the room, and \(configuration.departedLimit) others left after them."),
      now: now)
    markForPoll(oldest)
  }

  package func send(_ frame: EncodedFrame, now: MonotonicInstant) {
    if frame.codec.kind == .video, configuration.policy.media.sending.keyframeResponse == .replay {
      groupsOfPictures[frame.stream, default: GroupOfPicturesCache()].add(frame)
    }
    for engine in engines.values {
      engine.send(frame, now: now)
      markForPoll(engine)
    }
  }

  /// Sends a frame to some participants; each of its tracks has a time origin of its own.
  package func send(_ frame: EncodedFrame, to participants: [ParticipantID], now: MonotonicInstant) {
    for participant in participants {
      guard let engine = engines[participant] else { continue }
      engine.send(frame, times: .ofTrack, now: now)
      markForPoll(engine)
    }
  }

  /// Requests a keyframe from one participant, or from all of them.
  package func requestKeyframe(of participant: ParticipantID?, now: MonotonicInstant) {
    for engine in engines.values where participant == nil || engine.participant == participant {
      engine.requestKeyframe(now: now)
      markForPoll(engine)
    }
  }

  /// Opens a data channel to a participant, now or when they are connected.
  package func openDataChannel(
    _ configuration: DataChannelConfiguration, to participant: ParticipantID, token: Int, now: MonotonicInstant
  ) {
    guard let engine = engines[participant] else {
      let refusal = DataChannelAction.refused(token: token, "There is no connection to the participant.")
      ownActions.append((.dataChannel(refusal), participant))
      return
    }
    engine.openDataChannel(configuration, token: token, now: now)
    markForPoll(engine)
  }

  /// Runs work on a participant's connection, if there is one.
  package func withEngine(of participant: ParticipantID, _ work: (PeerConnection) -> Void) {
    guard let engine = engines[participant] else { return }
    work(engine)
    markForPoll(engine)
  }

  package func disconnect(_ participant: ParticipantID, because ending: CloseReason, now: MonotonicInstant) {
    rateLimiters.forgetWaiting(participant)
    guard let engine = engines[participant] else { return }
    engine.close(ending, now: now)
    markForPoll(engine)
  }

  /// Whether there is an engine of a participant, or a waiting message will create one.
  package func isConnecting(to participant: ParticipantID) -> Bool {
    engines[participant] != nil || rateLimiters.hasWaiting(participant)
  }

  /// The number of entries that are stored for participants; 0 when there are none.
  package var footprint: Int {
    engines.count + rateLimiters.count + byUsernameFragment.count + byPath.count + awaitedResponses.count
      + enginesToPoll.count + ownActions.count
  }

  package var statistics: [PeerStatistics] {
    engines.values.map(\.statistics)
  }

  /// Returns the participant's engine, creating it if necessary, or nil if OpenSSL cannot make a certificate for it.
  ///
  /// Each engine has a certificate of its own: to the participant, a new engine with a known certificate would look like
  /// the old one.
  ///
  /// - Parameter former: the engine of a former call under the same id, which has just ended.
  func engine(
    for participant: ParticipantID, offers: Bool, after former: PeerConnection? = nil, now: MonotonicInstant
  ) -> PeerConnection? {
    if let known = engines[participant] { return known }
    if silencedParticipants.contains(participant) { return nil }
    let identity: DTLSIdentity
    do {
      identity = try DTLSIdentity()
    } catch {
      ownActions.append((.event(.ended(CloseReason(.failed, error.description))), participant))
      return nil
    }
    let announcement = announcements[participant] ?? Announcement()
    let direction = announcement.direction
    var policy = configuration.policy
    policy.tracks = policy.tracks.restricted(sends: direction != .receiveOnly, receives: direction != .sendOnly)
    policy.tracks.acceptsOrientation = announcement.forwardsMedia
    // A media server that media flows to or from in one direction has no data channels.
    if direction != .sendReceive { policy.dataChannels = nil }
    var settings = PeerConnection.Configuration(
      participant: participant, identity: identity,
      localAddresses: localAddresses.sorted { $0.description < $1.description },
      // A media server never takes its offer back.
      isPolite: direction != .sendReceive || configuration.isPolite(participant), policy: policy)
    settings.isIdentityVerified = announcement.isIdentityVerified
    let engine = PeerConnection(
      settings, offers: offers, checkPace: configuration.checkPace, generator: configuration.makeGenerator())
    engine.relayFailure = relayFailure
    if let former { engine.inheritCheckAllowance(of: former) }
    for (mapped, base) in reflexiveAddresses { engine.addServerReflexive(mapped, base: base) }
    for relay in relayedAddresses { engine.addRelayed(relay, now: now) }
    if nat64 != nil { engine.setNAT64(nat64, now: now) }
    for group in groupsOfPictures.values { engine.prime(group, now: now) }
    engines[participant] = engine
    schedule.add(engine)
    return engine
  }

  func forget(_ engine: PeerConnection) {
    if engine.isSilenced { silencedParticipants.insert(engine.participant) }
    if engines[engine.participant] === engine { engines[engine.participant] = nil }
    schedule.remove(engine)
    byUsernameFragment = byUsernameFragment.filter { $0.value !== engine }
    byPath = byPath.filter { $0.value !== engine }
    awaitedResponses.forget(engine)
  }
}
