import BotPeer
import Logging
import Media
import Synchronization

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
  private let access: RoomAccess
  private let log: Logger
  /// Sends a frame to players.
  private let send: @Sendable (EncodedFrame, [ParticipantID]) -> Void
  private let membership = RoomMembership()
  private let state = Mutex(State())

  init(
    room: String, access: RoomAccess, log: Logger,
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
