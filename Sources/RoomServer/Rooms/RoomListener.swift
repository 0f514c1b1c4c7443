import BotPeer
import Logging
import Media
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
  private let state = Mutex(ShownSenders())

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
  var senders: [(id: ParticipantID, name: String?)] { state.withLock(\.all) }

  var playerIDs: [ParticipantID] { state.withLock(\.playerIDs) }

  /// Adds a player.
  ///
  /// - Parameter wanted: the id or the name of the participant to show, or nil for any.
  func add(_ player: ParticipantID, wants wanted: String?) {
    state.withLock { $0.add(player, wants: wanted) }
  }

  /// Removes a player, and returns whether it was the last one.
  func remove(_ player: ParticipantID) -> Bool {
    state.withLock { state in
      state.remove(player)
      return !state.hasPlayers
    }
  }

  /// Joins the room, unless that has begun or the last player has gone.
  func join() async throws {
    var handlers = RoomMember.Handlers()
    handlers.joined = { [self] others in
      state.withLock { $0.joined(others.map { ($0.id, $0.name) }) }
    }
    handlers.entered = { [self] participant in
      let isOther = state.withLock { state in
        let before = state.allShown
        state.entered(participant.id, name: participant.name)
        return state.allShown != before
      }
      if isOther { requestKeyframes() }
    }
    handlers.left = { [self] participant in state.withLock { $0.left(participant) } }
    handlers.ended = { [self] sender in
      state.withLock { $0.ended(sender) }
      requestKeyframes()
    }
    handlers.frame = { [self] frame, sender in forward(frame, of: sender) }
    try await membership.begin { [handlers] in
      try await RoomMember.join(room, as: Self.name, sending: [], access: access, log: log, handlers)
    }
  }

  /// Requests a keyframe of the participant that a player sees.
  func requestKeyframe(for player: ParticipantID) {
    let shown = state.withLock { $0.shown(to: player) }
    if let shown { membership.member?.peer.requestKeyframe(of: shown) }
  }

  func leave() async { await membership.end() }

  private func requestKeyframes() {
    let shown = state.withLock(\.allShown)
    for participant in shown { membership.member?.peer.requestKeyframe(of: participant) }
  }

  /// Sends a frame to the players of its participant. Called on the media thread.
  private func forward(_ frame: EncodedFrame, of sender: ParticipantID) {
    let (players, isNew) = state.withLock { state in
      let isNew = state.received(from: sender)
      return (state.players(of: sender), isNew)
    }
    send(frame, players)
    if isNew { requestKeyframes() }
  }
}
