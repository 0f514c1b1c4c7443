import BotPeer
import Logging
import Media
import Room
import Signalling
import Synchronization

/// A participant of a room that this server adds: for a publisher of WHIP, or to listen for players of WHEP.
final class RoomMember: Sendable {
  /// What happens in the room.
  struct Handlers: Sendable {
    /// The room was joined, and these were in it. Called before any of them is connected; again after a reconnection.
    var joined: @Sendable ([ParticipantID]) -> Void = { _ in }
    var connected: @Sendable (Peer, ParticipantID) -> Void = { _, _ in }
    var ended: @Sendable (ParticipantID) -> Void = { _ in }
    var keyframeRequested: @Sendable () -> Void = {}
    var frame: @Sendable (EncodedFrame, ParticipantID) -> Void = { _, _ in }
  }

  private let session: RoomSession
  private let task: Task<Void, Never>

  var peer: Peer { session.peer }

  /// Joins a room.
  static func join(
    _ room: String, sending streams: [Set<MediaKind>], access: WHIPGateway.RoomAccess, log: Logger, _ handlers: Handlers
  ) async throws -> RoomMember {
    let sending = streams.first ?? []
    var settings = access.connectionSettings
    settings.room = room
    let client = try settings.roomClient(trust: access.trust, log: log)
    var configuration = try settings.peerConfiguration()
    configuration.sending = sending
    configuration.furtherStreams = Array(streams.dropFirst())
    configuration.receiving = sending.isEmpty ? Set(MediaKind.allCases) : []
    configuration.keyframeResponse = .requestFromSource
    configuration.isForwarding = true
    configuration.initialReorderingDelay = WHIPGateway.initialReorderingDelay
    configuration.mediaSinks = [FrameSink(receive: handlers.frame)]
    let publisher = sending.isEmpty ? nil : OwnPublisher(access.publishers)
    var policy = RoomPolicy()
    // A room that is full may not be so later.
    policy.endsIfNotAdmitted = false
    policy.filter = { event in
      guard let publisher else { return event }
      if case .joined(let id, _) = event { publisher.replaceID(by: id) }
      return access.publishers.removed(from: event)
    }
    let peer = try await Peer.start(configuration, on: MediaThread.loop, log: log)
    let session = RoomSession(client: client, peer: peer, policy: policy)
    do {
      try await session.join()
    } catch {
      await peer.close(reason: "The room was not joined.")
      throw error
    }
    return RoomMember(session, handlers, publisher: publisher)
  }

  private init(_ session: RoomSession, _ handlers: Handlers, publisher: OwnPublisher?) {
    self.session = session
    task = Task {
      await session.run { event in
        switch event {
        case .signalling(.joined(_, let others)): handlers.joined(others.map(\.id))
        case .connection(let event):
          switch event.event {
          case .stateChanged(.connected): handlers.connected(session.peer, event.participant)
          case .keyframeRequested: handlers.keyframeRequested()
          case .ended: handlers.ended(event.participant)
          default: break
          }
        case .signalling, .problem, .ended: break
        }
      }
      publisher?.replaceID(by: nil)
    }
  }

  func leave() async {
    await session.leave(because: "The session has ended.")
    await task.value
  }
}

/// The id of one of the participants that send what clients publish.
private final class OwnPublisher: Sendable {
  private let publishers: RoomPublisherIDs
  private let id = Mutex<ParticipantID?>(nil)

  init(_ publishers: RoomPublisherIDs) {
    self.publishers = publishers
  }

  /// Registers another id for this participant; nil when it has left.
  func replaceID(by new: ParticipantID?) {
    id.withLock { id in
      publishers.replace(id, by: new)
      id = new
    }
  }
}

/// Passes on the frames of all participants.
private struct FrameSink: MediaSink {
  let receive: @Sendable (EncodedFrame, ParticipantID) -> Void

  func receive(_ event: MediaEvent, of participant: ParticipantID, now: ContinuousClock.Instant) {
    if case .frame(let frame) = event { receive(frame, participant) }
  }
}

/// The participant of a room that sends what a client publishes with WHIP.
final class RoomPublisher: Sendable {
  let room: String
  private let access: WHIPGateway.RoomAccess
  private let log: Logger
  private let requestKeyframe: @Sendable () -> Void
  private let membership = RoomMembership()
  private let state = Mutex(State())

  private struct State {
    /// The kinds of media of each stream that the client's description has.
    var streams: [Int: Set<MediaKind>] = [:]
    var viewers: Set<ParticipantID> = []
    var start = StartBuffer()
  }

  init(
    room: String, access: WHIPGateway.RoomAccess, log: Logger,
    requestKeyframe: @escaping @Sendable () -> Void
  ) {
    self.room = room
    self.access = access
    self.log = log
    self.requestKeyframe = requestKeyframe
  }

  /// Joins the room, unless that has begun or the session has ended.
  func join() async throws {
    var handlers = RoomMember.Handlers()
    handlers.joined = { [self] others in state.withLock { $0.start.joined(others: others) } }
    handlers.connected = { [self] peer, viewer in
      // Within the lock, so that the first frames precede those that arrive now.
      state.withLock { state in
        for frame in state.start.takeFrames(for: viewer, now: .now) { peer.send(frame, to: viewer) }
        state.viewers.insert(viewer)
      }
      requestKeyframe()
    }
    handlers.ended = { [self] viewer in state.withLock { _ = $0.viewers.remove(viewer) } }
    handlers.keyframeRequested = requestKeyframe
    let described = state.withLock { $0.streams }
    // Without a description nothing is known, and somebody who sends nothing would be a listener.
    let streams =
      described.isEmpty
      ? [Set(MediaKind.allCases)] : (1...max(1, described.keys.max() ?? 1)).map { described[$0] ?? [] }
    try await membership.begin { [handlers] in
      try await RoomMember.join(room, sending: streams, access: access, log: log, handlers)
    }
  }

  /// Handles the client's media. Called on the media thread, also before the room is joined.
  func receive(_ event: MediaEvent) {
    switch event {
    case .frame(let frame): forward(frame)
    case .described(let stream):
      state.withLock { $0.streams[stream.number, default: []].formUnion(stream.tracks.keys) }
    case .clock, .recovering, .statistics: break
    }
  }

  /// Sends a frame to everyone in the room.
  private func forward(_ frame: EncodedFrame) {
    let viewers = state.withLock { state in
      state.start.add(frame)
      return Array(state.viewers)
    }
    // Not within the lock, because the frame is sent before the call returns. On this thread it overtakes nothing that was
    // sent within the lock.
    membership.member?.peer.send(frame, to: viewers)
  }

  func leave() async { await membership.end() }
}

/// The participant of a room that receives media for the players of WHEP. Each player sees one participant: the one that
/// it names, else the first.
final class RoomListener: Sendable {
  private struct Player {
    var wanted: String?
    var shown: ParticipantID?
  }

  private struct State {
    /// The participants whose media arrives, in the order of their connection.
    var senders: [ParticipantID] = []
    var players: [ParticipantID: Player] = [:]

    /// Chooses the participant for each player.
    mutating func choose() {
      for (id, player) in players {
        let wanted = player.wanted.map { ParticipantID($0) }
        if let shown = player.shown, senders.contains(shown), wanted == nil || wanted == shown { continue }
        players[id]?.shown = wanted.flatMap { senders.contains($0) ? $0 : nil } ?? (wanted == nil ? senders.first : nil)
      }
    }
  }

  let room: String
  private let access: WHIPGateway.RoomAccess
  private let log: Logger
  /// Sends a frame to players.
  private let send: @Sendable (EncodedFrame, [ParticipantID]) -> Void
  private let membership = RoomMembership()
  private let state = Mutex(State())

  init(
    room: String, access: WHIPGateway.RoomAccess, log: Logger,
    send: @escaping @Sendable (EncodedFrame, [ParticipantID]) -> Void
  ) {
    self.room = room
    self.access = access
    self.log = log
    self.send = send
  }

  var playerIDs: [ParticipantID] { state.withLock { Array($0.players.keys) } }

  /// Adds a player.
  ///
  /// - Parameter wanted: the id of the participant to show, or nil for any.
  func add(_ player: ParticipantID, wants wanted: String?) {
    state.withLock { state in
      state.players[player] = Player(wanted: wanted, shown: nil)
      state.choose()
    }
  }

  /// Removes a player, and returns whether it was the last one.
  func remove(_ player: ParticipantID) -> Bool {
    state.withLock { state in
      state.players[player] = nil
      return state.players.isEmpty
    }
  }

  /// Joins the room, unless that has begun or the last player has gone.
  func join() async throws {
    var handlers = RoomMember.Handlers()
    handlers.ended = { [self] sender in
      state.withLock { state in
        state.senders.removeAll { $0 == sender }
        state.choose()
      }
      requestKeyframes()
    }
    handlers.frame = { [self] frame, sender in forward(frame, of: sender) }
    try await membership.begin { [handlers] in
      try await RoomMember.join(room, sending: [], access: access, log: log, handlers)
    }
  }

  /// Requests a keyframe of the participant that a player sees.
  func requestKeyframe(for player: ParticipantID) {
    let shown = state.withLock { $0.players[player]?.shown }
    if let shown { membership.member?.peer.requestKeyframe(of: shown) }
  }

  func leave() async { await membership.end() }

  private func requestKeyframes() {
    let shown = state.withLock { Set($0.players.values.compactMap(\.shown)) }
    for participant in shown { membership.member?.peer.requestKeyframe(of: participant) }
  }

  /// Sends a frame to the players of its participant. Called on the media thread.
  private func forward(_ frame: EncodedFrame, of sender: ParticipantID) {
    let (players, isNew) = state.withLock { state in
      let isNew = !state.senders.contains(sender)
      if isNew {
        state.senders.append(sender)
        state.choose()
      }
      return (state.players.compactMap { $1.shown == sender ? $0 : nil }, isNew)
    }
    send(frame, players)
    if isNew { requestKeyframes() }
  }
}
