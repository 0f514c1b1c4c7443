import BotPeer
import Logging
import Media
import Signalling
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
    /// The names of those in the room who have one.
    var names: [ParticipantID: String] = [:]
    var players: [ParticipantID: Player] = [:]

    /// Chooses the participant for each player.
    mutating func choose() {
      for (id, player) in players {
        if let shown = player.shown, senders.contains(shown), isWanted(shown, by: player) { continue }
        let next = senders.first { isWanted($0, by: player) }
        players[id]?.shown = next
      }
    }

    private func isWanted(_ sender: ParticipantID, by player: Player) -> Bool {
      guard let wanted = player.wanted else { return true }
      return sender == ParticipantID(wanted)
        || names[sender].map { UntrustedText($0) == UntrustedText(wanted) } ?? false
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

  /// The name of the participant, which others see.
  private static let name = "WHEP players"

  /// Those whose media arrives, with their names, in the order of their connection.
  var senders: [(id: ParticipantID, name: String?)] {
    state.withLock { state in state.senders.map { ($0, state.names[$0]) } }
  }

  var playerIDs: [ParticipantID] { state.withLock { Array($0.players.keys) } }

  /// Adds a player.
  ///
  /// - Parameter wanted: the id or the name of the participant to show, or nil for any.
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
    handlers.joined = { [self] others in
      state.withLock { state in
        state.names = others.reduce(into: [:]) { $0[$1.id] = $1.name }
        state.choose()
      }
    }
    handlers.entered = { [self] participant in state.withLock { $0.names[participant.id] = participant.name } }
    handlers.left = { [self] participant in state.withLock { $0.names[participant] = nil } }
    handlers.ended = { [self] sender in
      state.withLock { state in
        state.senders.removeAll { $0 == sender }
        state.choose()
      }
      requestKeyframes()
    }
    handlers.frame = { [self] frame, sender in forward(frame, of: sender) }
    try await membership.begin { [handlers] in
      try await RoomMember.join(room, as: Self.name, sending: [], access: access, log: log, handlers)
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
