internal import ICE
public import Logging
public import Media
public import NIOCore
@_exported public import PeerEngine
internal import RTP
@_exported public import SCTP
@_exported public import Signalling
internal import Synchronization

/// A headless WebRTC participant: connects to any number of others, receives their media and sends frames to all.
///
/// It neither signals nor stores. ``events`` deliver the signalling messages for participants (`PeerEvent.signal`) and
/// the received media (`PeerEvent.media`), which the caller forwards; a `RoomSession` of the module `Room` does so for a signalling
/// system.
///
/// ```swift
/// let peer = try await Peer.start(Peer.Configuration(), on: group.next())
/// peer.offer(to: ParticipantID("somebody"))
/// for await happening in peer.events { … }
/// ```
///
/// Methods may be called from any thread and return immediately. All work for one participant runs on one event loop.
public final class Peer: Sendable {
  /// The events of all participants, including media unless ``Configuration/mediaSinks`` are set; for one reader.
  public let events: ParticipantEvents
  /// The addresses that receive datagrams, for example `10.0.0.1:5000`, and those that accept connections, for example
  /// `10.0.0.1:5000/tcp`.
  public let localAddresses: [String]

  /// The data channels that participants open, and those of ``Configuration/dataChannels``; for one reader. When 1,024 of
  /// them wait, further ones are closed.
  public let dataChannels: AsyncStream<DataChannel>

  private let shards: [MediaShard]
  private let assignments: ShardAssignments
  private let source: NIOLoopBound<EventSource>
  private let received: ReceivedDataChannels
  private let ownID: OwnID
  /// Renews the credentials of TURN servers.
  private let renewal = Mutex<Task<Void, Never>?>(nil)

  private init(
    events: ParticipantEvents, dataChannels: ReceivedDataChannels, shards: [MediaShard], assignments: ShardAssignments,
    source: NIOLoopBound<EventSource>, ownID: OwnID
  ) {
    self.events = events
    self.ownID = ownID
    self.dataChannels = dataChannels.stream
    received = dataChannels
    self.shards = shards
    self.assignments = assignments
    self.source = source
    localAddresses = shards.flatMap(\.localAddresses).map(\.description).sorted()
  }

  /// Starts a peer and binds its sockets.
  ///
  /// - Parameters:
  ///   - configuration: addresses, media, limits and emulated conditions.
  ///   - loop: runs all work and delivers the events.
  ///   - others: further loops for media: each has its own sockets, and a participant is assigned to one of all loops
  ///     when the call begins.
  ///   - log: logs failed sockets and STUN servers at `debug`, failures of TURN servers and video suspended for lack of time
  ///     at `warning`.
  /// - Throws: a ``StartError``, whose description is one sentence.
  public static func start(
    _ configuration: Configuration, on loop: any EventLoop, and others: [any EventLoop] = [],
    log: Logger = Logger(label: "peer")
  ) async throws -> Peer {
    let ownID = OwnID()
    let configuration = configuration.decidingPoliteness { ownID.isPolite(towards: $0) }
    try configuration.checkInterfaces()
    let addresses = try configuration.addressesToBind()
    if addresses.isEmpty, !configuration.bindInterfaces.isEmpty {
      throw StartError.noAddress(interfaces: configuration.bindInterfaces)
    }
    let servers = try await ICEServers.resolve(configuration.iceServers)
    let received = ReceivedDataChannels()
    let plan = MediaShard.Plan(
      configuration: configuration, addresses: addresses, servers: servers, checkPace: CheckPacer(),
      assignments: ShardAssignments(count: 1 + others.count), log: log,
      dataChannelOpened: { received.add($0) })
    let (first, source, events) = try await loop.submit {
      // A peer that sends no media need not react to media quickly, so its events may wait.
      let deliveryInterval: Duration = configuration.sending.isEmpty ? .milliseconds(40) : .zero
      let (source, events) = EventSource.make(on: loop, deliveryInterval: deliveryInterval)
      let shard = try MediaShard(
        plan, index: 0, on: loop, emit: { source.add($0) }, turnEnded: { source.yield(now: $0) })
      return (shard, NIOLoopBound(source, eventLoop: loop), events)
    }.get()
    var shards = [first]
    do {
      for (number, other) in others.enumerated() {
        let shard = try await other.submit {
          let forwarder = EventForwarder(to: source, on: loop)
          return try MediaShard(
            plan, index: number + 1, on: other, emit: { forwarder.add($0) },
            turnEnded: { _ in
              forwarder.turnEnded()
              return nil
            })
        }.get()
        shards.append(shard)
      }
    } catch {
      for shard in shards { await shard.close(reason: "Not all sockets could be bound.") }
      throw error
    }
    let all = shards
    try await loop.submit {
      source.value.keyframeNeeded = { for shard in all { shard.perform { $0.requestKeyframe(of: nil) } } }
    }.get()
    let peer = Peer(
      events: events, dataChannels: received, shards: shards, assignments: plan.assignments, source: source,
      ownID: ownID)
    if let renewal = configuration.iceServerRenewal { peer.begin(renewal, log: log) }
    return peer
  }

  private func begin(_ plan: ICEServerRenewal, log: Logger) {
    let task = Task { [weak self] in
      let interval = max(plan.interval, .seconds(1))
      var wait = interval
      while (try? await Task.sleep(for: wait)) != nil, let self {
        let problems = await self.use(plan.servers(), areAssigned: false)
        for problem in problems { log.warning("\(problem)") }
        // A name server that does not answer may do so later.
        wait = problems.isEmpty ? interval : min(interval, .seconds(60))
      }
    }
    renewal.withLock { $0 = task }
  }

  /// Sets the id that participants know us by. It decides who gives way when both sides offer at once, unless
  /// ``Configuration/isPolite`` does.
  public func identify(as id: ParticipantID) { ownID.set(id) }

  /// Prepares for a participant whom the signalling announced: sends them an offer, or expects theirs.
  public func call(_ participant: SignalledParticipant) {
    for shard in shards { shard.perform { $0.announce(participant) } }
    if participant.offerer == .local { offer(to: participant.id) }
  }

  /// Uses STUN and TURN servers that the signalling assigned, besides those of the configuration. If it assigns other
  /// credentials for a server, calls move to an allocation with those.
  ///
  /// - Returns: the servers that cannot be used, each with the reason.
  @discardableResult
  public func use(_ servers: [ICEServer]) async -> [String] {
    await use(servers, areAssigned: true)
  }

  private func use(_ servers: [ICEServer], areAssigned: Bool) async -> [String] {
    var found = ICEServers()
    var problems: [String] = []
    for server in servers.prefix(16) {
      do {
        try await found.add(server)
      } catch {
        problems.append("\(error)")
      }
    }
    for index in found.turn.indices { found.turn[index].isAssigned = areAssigned }
    for shard in shards { shard.perform { [found] in $0.use(found) } }
    return problems
  }

  /// Waits until every STUN and TURN server has answered, for a signalling system that carries no candidates after the first
  /// description.
  ///
  /// - Parameter limit: the maximum time to wait.
  public func gatheringEnded(within limit: Duration) async {
    let end = ContinuousClock.now + limit
    for shard in shards {
      while await shard.isGathering, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(20)) }
    }
  }

  /// Calls a participant by sending an offer.
  public func offer(to participant: ParticipantID) {
    perform({ $0.offer(to: participant) }, of: participant, on: assignments.assign(participant))
  }

  /// Handles an event of a signalling channel: sends offers to participants who expect one, and handles the messages of
  /// participants.
  public func receive(_ event: SignallingEvent) {
    switch event {
    case .joined(let id, let others):
      identify(as: id)
      for other in others { call(other) }
    case .participantJoined(let participant): call(participant)
    case .message(let message, let participant): receive(message, from: participant)
    case .participantLeft(let participant, let isRejoinVerified):
      participantLeft(participant, isRejoinVerified: isRejoinVerified)
    case .iceServers(let servers): Task { await use(servers) }
    case .connectionLost, .rejected, .closed: break
    }
  }

  /// Handles a signalling message of a participant.
  public func receive(_ message: SignallingMessage, from participant: ParticipantID) {
    // An answer to an unknown offer does not begin a connection.
    let isAnswer = if case .answer = message { true } else { false }
    guard let shard = isAnswer ? assignments.shard(of: participant) : assignments.assign(participant) else { return }
    perform({ $0.received(message, from: participant) }, of: participant, on: shard)
  }

  /// Handles the signalling server's notice that a participant has left the room.
  ///
  /// The connection ends immediately, unless media still arrives: then it continues until two seconds after the media
  /// stops, because only the participant's connection to the server may be broken. If the participant returns,
  /// everything continues as before.
  ///
  /// - Parameters:
  ///   - participant: the participant who has left.
  ///   - isRejoinVerified: whether the server guarantees that no other participant gets the id. If not, a description with
  ///     another certificate under the same id belongs to a new connection.
  public func participantLeft(_ participant: ParticipantID, isRejoinVerified: Bool = true) {
    onShard(of: participant) { $0.participantLeft(participant, isRejoinVerified: isRejoinVerified) }
  }

  /// Sends a frame to all participants; its time is the media time since the source began, on one clock for audio and
  /// video.
  public func send(_ frame: EncodedFrame) {
    for shard in shards { shard.perform { $0.send(frame) } }
  }

  /// Sends a frame to one participant, as in loopback.
  ///
  /// Its time is on the timeline of its track, like that of received media: audio and video are aligned by the times of
  /// these calls.
  public func send(_ frame: EncodedFrame, to participant: ParticipantID) {
    send(frame, to: [participant])
  }

  /// Sends a frame to some participants, on the timeline of its track as to one; this costs less than a call for each of them.
  ///
  /// On the peer's event loop the frame is sent before the method returns, except in a ``Configuration/handler`` or a media
  /// sink of the same peer.
  public func send(_ frame: EncodedFrame, to participants: [ParticipantID]) {
    if participants.isEmpty { return }
    guard shards.count > 1 else { return shards[0].performInPlace { $0.send(frame, to: participants) } }
    for (shard, participants) in assignments.byShard(participants) {
      shards[shard].performInPlace { [assignments] driver in
        driver.send(frame, to: participants)
        for participant in participants where !driver.isConnecting(to: participant) {
          assignments.connectionEnded(participant)
        }
      }
    }
  }

  /// Opens a data channel to a participant to whom there is a connection, or to whom one is being established. The
  /// channel is closed at once, with a reason, if that is impossible.
  ///
  /// Offers have a section for data channels only if ``Configuration/dataChannels`` opens one.
  public func openDataChannel(
    _ configuration: DataChannelConfiguration, to participant: ParticipantID
  ) -> DataChannel {
    let index = assignments.shard(of: participant)
    let channel = shards[index ?? 0].makeDataChannel(configuration, to: participant)
    if let index {
      perform({ $0.open(channel) }, of: participant, on: index)
    } else {
      channel.didClose(because: "There is no connection to the participant.")
    }
    return channel
  }

  /// Passes on the frames since the last keyframe of a stream that is forwarded to a participant, in the same order as frames that are
  /// sent. They are replayed if the source answers no keyframe request.
  package func prime(_ group: GroupOfPicturesCache, for participant: ParticipantID) {
    let work: @Sendable (PeerDriver) -> Void = { $0.prime(group, for: participant) }
    guard let shard = assignments.shard(of: participant) else { return }
    shards[shards.count > 1 ? shard : 0].performInPlace(work)
  }

  /// Requests a keyframe from a participant.
  public func requestKeyframe(of participant: ParticipantID) {
    onShard(of: participant) { $0.requestKeyframe(of: participant) }
  }

  /// Looks for a new path to a participant: restarts ICE (RFC 8445, 9). Media continues on the present path until a new one
  /// works.
  public func restartICE(of participant: ParticipantID) {
    onShard(of: participant) { $0.restartICE(of: participant) }
  }

  /// Sends an offer again that the participant has not answered, if there is one: the signalling lost its connection meanwhile,
  /// and perhaps the offer or the answer.
  public func repeatOffer(to participant: ParticipantID) {
    onShard(of: participant) { $0.repeatOffer(to: participant) }
  }

  /// Ends the connection to a participant, if there is one. ``events`` report the given reason.
  public func disconnect(_ participant: ParticipantID, because ending: CloseReason) {
    onShard(of: participant) { $0.disconnect(participant, because: ending) }
  }

  /// Returns the statistics of all connections.
  public func statistics() async -> [PeerStatistics] {
    var all: [PeerStatistics] = []
    for shard in shards { all += await shard.statistics }
    return all
  }

  /// Closes all connections, delivers the last events and ends ``events``.
  public func close(reason: String) async {
    renewal.withLock { $0?.cancel() }
    for shard in shards { await shard.close(reason: reason) }
    received.finish()
    try? await shards[0].loop.submit { [source] in source.value.finish() }.get()
  }

  private func onShard(of participant: ParticipantID, _ work: @escaping @Sendable (PeerDriver) -> Void) {
    if let shard = assignments.shard(of: participant) { perform(work, of: participant, on: shard) }
  }

  /// Runs work for a participant on the shard that serves them.
  private func perform(
    _ work: @escaping @Sendable (PeerDriver) -> Void, of participant: ParticipantID, on shard: Int
  ) {
    guard shards.count > 1 else { return shards[shard].perform(work) }
    shards[shard].perform { [assignments] driver in
      work(driver)
      if !driver.isConnecting(to: participant) { assignments.connectionEnded(participant) }
    }
  }
}
