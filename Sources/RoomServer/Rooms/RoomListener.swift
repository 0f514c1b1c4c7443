import BotPeer
import Logging
import Media
import PeerEngine
import Signalling
import Synchronization

/// The participant of a room that receives media for the players of WHEP. Each player sees one participant: the one that
/// it names, else the first.
final class RoomListener: Sendable {
  let room: String
  private let access: RoomAccess
  private let log: Logger
  /// Sends a frame to players.
  private let send: @Sendable (EncodedFrame, [ParticipantID]) -> Void
  private let membership = RoomMembership()
  private let state = Mutex(State())

  private struct State {
    var senders = ShownSenders()
    /// The players that frames can be sent to.
    var connected: Set<ParticipantID> = []
    /// What a player needs who joins now, of each participant that is shown.
    var recent: [ParticipantID: RecentFrames] = [:]
  }

  init(
    room: String, access: RoomAccess, log: Logger,
    send: @escaping @Sendable (EncodedFrame, [ParticipantID]) -> Void
  ) {
    self.room = room
    self.access = access
    self.log = log
    self.send = send
  }

  /// The name of the participant, which others see.
  private static let name = "WHEP players"

  /// Those whose media arrives, with their names, in the order of their connection.
  var senders: [(id: ParticipantID, name: String?)] { state.withLock(\.senders.all) }

  var playerIDs: [ParticipantID] { state.withLock(\.senders.playerIDs) }

  /// Adds a player.
  ///
  /// - Parameter wanted: the id or the name of the participant to show, or nil for any.
  func add(_ player: ParticipantID, wants wanted: String?) {
    state.withLock { $0.senders.add(player, wants: wanted) }
  }

  /// Removes a player, and returns whether it was the last one.
  func remove(_ player: ParticipantID) -> Bool {
    state.withLock { state in
      state.senders.remove(player)
      state.connected.remove(player)
      return !state.senders.hasPlayers
    }
  }

  /// Joins the room, unless that has begun or the last player has gone.
  func join() async throws {
    var handlers = RoomMember.Handlers()
    handlers.joined = { [self] others in
      state.withLock { $0.senders.joined(others.map { ($0.id, $0.name) }) }
    }
    handlers.entered = { [self] participant in
      let isOther = state.withLock { state in
        let before = state.senders.allShown
        state.senders.entered(participant.id, name: participant.name)
        return state.senders.allShown != before
      }
      if isOther { requestKeyframes() }
    }
    handlers.left = { [self] participant in state.withLock { $0.senders.left(participant) } }
    handlers.ended = { [self] sender in
      state.withLock { state in
        state.senders.ended(sender)
        state.recent[sender] = nil
      }
      requestKeyframes()
    }
    handlers.frame = { [self] frame, sender in forward(frame, of: sender) }
    try await membership.begin { [handlers] in
      try await RoomMember.join(room, as: Self.name, sending: [], access: access, log: log, handlers)
    }
  }

  /// Sends to a player from now on.
  ///
  /// - Parameter prime: passes on the frames since the last keyframe of a stream. Called within a lock, so that frames that are sent
  ///   later follow them.
  func connected(_ player: ParticipantID, prime: (GroupOfPicturesCache) -> Void) {
    state.withLock { state in
      guard state.connected.insert(player).inserted, let shown = state.senders.shown(to: player) else { return }
      for group in state.recent[shown]?.groups ?? [] { prime(group) }
    }
  }

  /// Requests a keyframe of the participant that a player sees.
  func requestKeyframe(for player: ParticipantID) {
    let shown = state.withLock { $0.senders.shown(to: player) }
    if let shown { membership.member?.peer.requestKeyframe(of: shown) }
  }

  func leave() async { await membership.end() }

  private func requestKeyframes() {
    let shown = state.withLock(\.senders.allShown)
    for participant in shown { membership.member?.peer.requestKeyframe(of: participant) }
  }

  /// Sends a frame to the players of its participant. Called on the media thread.
  private func forward(_ frame: EncodedFrame, of sender: ParticipantID) {
    let (players, isNew) = state.withLock { state in
      let isNew = state.senders.received(from: sender)
      let players = state.senders.players(of: sender)
      if players.isEmpty {
        state.recent[sender] = nil
      } else if !state.recent[sender, default: RecentFrames()].add(frame) {
        return ([ParticipantID](), isNew)
      }
      return (players.filter(state.connected.contains), isNew)
    }
    send(frame, players)
    if isNew { requestKeyframes() }
  }
}
