internal import Media

/// The members of all rooms, and the messages that joining, leaving and relaying cause. Pure: calls in, deliveries out.
///
/// One connection is in at most one room. Joining the same room again changes nothing for the others; joining another
/// room leaves the first. Nothing is delivered across rooms.
package struct Rooms: Sendable {
  /// A message for one connection.
  package struct Delivery: Sendable, Hashable {
    package var to: String
    package var message: ServerMessage

    package init(to: String, message: ServerMessage) {
      self.to = to
      self.message = message
    }
  }

  /// Why a join is rejected.
  package enum JoinError: Error, Sendable, Hashable, CustomStringConvertible {
    case nameTooLong(characters: Int, limit: Int)
    case roomFull(limit: Int)
    case tooManyRooms(limit: Int)

    package var description: String {
      switch self {
      case .nameTooLong(let characters, let limit):
        "A room's name may have \(limit) characters, but this one has \(characters)."
      case .roomFull(let limit):
        "The room is full: it holds \(limit) participants."
      case .tooManyRooms(let limit):
        "There are \(limit) rooms already, and no more are opened."
      }
    }
  }

  private let maximumNameCharacters: Int
  private let maximumUsers: Int
  private let maximumRooms: Int
  /// The members in the order in which they joined. A room without members does not exist.
  private var members: [UntrustedText: [String]] = [:]
  private var roomOf: [String: UntrustedText] = [:]
  /// What members say of themselves, for those who say something.
  private var profiles: [String: ParticipantProfile] = [:]

  package init(maximumNameCharacters: Int = 128, maximumUsers: Int = 50, maximumRooms: Int = 1000) {
    self.maximumNameCharacters = maximumNameCharacters
    self.maximumUsers = maximumUsers
    self.maximumRooms = maximumRooms
  }

  /// The number of rooms.
  package var count: Int { members.count }

  /// The number of participants of all rooms.
  package var participantCount: Int { roomOf.count }

  /// The ids in a room, in the order of joining.
  package func members(of room: String) -> [String] { members[UntrustedText(room)] ?? [] }

  /// The room of a participant.
  package func room(of id: String) -> String? { roomOf[id]?.string }

  /// A member's profile.
  package func profile(of id: String) -> ParticipantProfile { profiles[id] ?? ParticipantProfile() }

  /// Adds a participant to a room and returns the messages for the others, then for the newcomer.
  package mutating func join(
    _ id: String, room: String, profile: ParticipantProfile = ParticipantProfile()
  ) throws(JoinError) -> [Delivery] {
    // Counts scalars, because one visible character can consist of thousands.
    let characters = room.unicodeScalars.count
    guard characters <= maximumNameCharacters else {
      throw .nameTooLong(characters: characters, limit: maximumNameCharacters)
    }
    let name = UntrustedText(room)
    let others = members(of: room).filter { $0 != id }
    let peers = ServerMessage.peers(
      you: id, others: others, profiles: others.reduce(into: [:]) { $0[$1] = profiles[$1] })
    if roomOf[id] == name { return setProfile(profile, of: id) + [Delivery(to: id, message: peers)] }
    guard others.count < maximumUsers else { throw .roomFull(limit: maximumUsers) }
    guard !others.isEmpty || members.count < maximumRooms else { throw .tooManyRooms(limit: maximumRooms) }
    var deliveries = leave(id)
    members[name, default: []].append(id)
    roomOf[id] = name
    profiles[id] = profile.isEmpty ? nil : profile
    deliveries += others.map { Delivery(to: $0, message: .joined(id, profile: profile)) }
    deliveries.append(Delivery(to: id, message: peers))
    return deliveries
  }

  /// Changes a member's profile, and returns the messages for the others; none if it is the same.
  package mutating func setProfile(_ profile: ParticipantProfile, of id: String) -> [Delivery] {
    guard let room = roomOf[id], profile != self.profile(of: id) else { return [] }
    profiles[id] = profile.isEmpty ? nil : profile
    return (members[room] ?? []).filter { $0 != id }.map { Delivery(to: $0, message: .profile(id, profile)) }
  }

  /// Removes a participant from their room and returns the messages for the remaining members.
  package mutating func leave(_ id: String) -> [Delivery] {
    guard let room = roomOf.removeValue(forKey: id) else { return [] }
    profiles[id] = nil
    let staying = (members[room] ?? []).filter { $0 != id }
    members[room] = staying.isEmpty ? nil : staying
    return staying.map { Delivery(to: $0, message: .left(id)) }
  }

  /// Relays a signal, with the sender's id instead of the target's; nil unless both are in the same room.
  package func relay(_ signal: RelayedMessage, from sender: String, to target: String) -> Delivery? {
    guard sender != target, let room = roomOf[sender], roomOf[target] == room else { return nil }
    return Delivery(to: target, message: .signal(signal, from: sender))
  }
}
