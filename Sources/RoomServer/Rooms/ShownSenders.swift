package import Media

/// The participants whose media arrives in a room, and which of them each player of WHEP sees: the one that it names, else the
/// first. Pure.
package struct ShownSenders: Sendable {
  private struct Player {
    /// An id or a name.
    var wanted: (id: ParticipantID, name: DisplayName?)?
    var shown: ParticipantID?
  }

  /// The participants whose media arrives, in the order of their connection.
  private var senders: [ParticipantID] = []
  /// The names of those in the room, and of those who have left it but still send.
  private var names: [ParticipantID: DisplayName] = [:]
  /// Those in the room.
  private var present: Set<ParticipantID> = []
  private var players: [ParticipantID: Player] = [:]

  package init() {}

  // MARK: Players

  package var playerIDs: [ParticipantID] { Array(players.keys) }
  package var hasPlayers: Bool { !players.isEmpty }

  /// Adds a player.
  ///
  /// - Parameter wanted: the id or the name of the participant to show, or nil for any.
  package mutating func add(_ player: ParticipantID, wants wanted: String?) {
    players[player] = Player(wanted: wanted.map { (ParticipantID($0), DisplayName($0)) }, shown: nil)
    choose()
  }

  package mutating func remove(_ player: ParticipantID) { players[player] = nil }

  /// The participant that a player sees.
  package func shown(to player: ParticipantID) -> ParticipantID? { players[player]?.shown }

  /// The players that see a participant.
  package func players(of sender: ParticipantID) -> [ParticipantID] {
    players.compactMap { $1.shown == sender ? $0 : nil }
  }

  /// The participants that players see.
  package var allShown: Set<ParticipantID> { Set(players.values.compactMap(\.shown)) }

  // MARK: Participants

  /// Those whose media arrives, with their names, in the order of their connection.
  package var all: [(id: ParticipantID, name: String?)] { senders.map { ($0, names[$0]?.description) } }

  /// The room was joined, and these are in it; again after a reconnection.
  package mutating func joined(_ others: [(id: ParticipantID, name: String?)]) {
    present = []
    names = names.filter { senders.contains($0.key) }
    for other in others { setName(other.name, of: other.id) }
    choose()
  }

  /// Somebody joined the room, perhaps once more.
  package mutating func entered(_ participant: ParticipantID, name: String?) {
    setName(name, of: participant)
    choose()
  }

  private mutating func setName(_ name: String?, of participant: ParticipantID) {
    present.insert(participant)
    names[participant] = name.flatMap { DisplayName($0) }
  }

  /// Somebody left the room. As long as their media arrives, they keep their name.
  package mutating func left(_ participant: ParticipantID) {
    present.remove(participant)
    if !senders.contains(participant) { names[participant] = nil }
  }

  /// A frame of a participant has arrived.
  ///
  /// - Returns: whether it is the first one.
  package mutating func received(from sender: ParticipantID) -> Bool {
    if senders.contains(sender) { return false }
    senders.append(sender)
    choose()
    return true
  }

  /// No more media of a participant arrives.
  package mutating func ended(_ sender: ParticipantID) {
    senders.removeAll { $0 == sender }
    if !present.contains(sender) { names[sender] = nil }
    choose()
  }

  /// Chooses the participant for each player.
  private mutating func choose() {
    for (id, player) in players {
      if let shown = player.shown, senders.contains(shown), isWanted(shown, by: player) { continue }
      let next = senders.first { isWanted($0, by: player) }
      players[id]?.shown = next
    }
  }

  private func isWanted(_ sender: ParticipantID, by player: Player) -> Bool {
    guard let wanted = player.wanted else { return true }
    return sender == wanted.id || wanted.name.map { names[sender] == $0 } ?? false
  }
}
