/// Who is in which room, and what everybody is to be told. Pure: a call in, deliveries out.
///
/// One connection is in at most one room. Joining the same room again changes nothing for the others; joining another
/// one moves. Nothing is ever delivered across rooms.
package struct Rooms: Sendable {
  /// A message for one connection.
  package struct Delivery: Sendable, Hashable {
    package var to: String
    package var notice: ServerMessage

    package init(to: String, notice: ServerMessage) {
      self.to = to
      self.notice = notice
    }
  }

  /// Why somebody was not let in.
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
  /// Members in the order in which they came. A room that nobody is in does not exist.
  private var members: [String: [String]] = [:]
  private var roomOf: [String: String] = [:]

  package init(maximumNameCharacters: Int = 128, maximumUsers: Int = 50, maximumRooms: Int = 1000) {
    self.maximumNameCharacters = maximumNameCharacters
    self.maximumUsers = maximumUsers
    self.maximumRooms = maximumRooms
  }

  /// How many rooms there are.
  package var count: Int { members.count }

  /// The ids in a room, oldest first.
  package func members(of room: String) -> [String] { members[room] ?? [] }

  /// The room that somebody is in.
  package func room(of id: String) -> String? { roomOf[id] }

  /// Lets somebody in and tells the others, then the newcomer.
  package mutating func join(_ id: String, room: String) throws(JoinError) -> [Delivery] {
    // Scalars, because one visible character can be made of thousands.
    let characters = room.unicodeScalars.count
    guard characters <= maximumNameCharacters else {
      throw .nameTooLong(characters: characters, limit: maximumNameCharacters)
    }
    let others = members(of: room).filter { $0 != id }
    if roomOf[id] == room { return [Delivery(to: id, notice: .peers(you: id, others: others))] }
    guard others.count < maximumUsers else { throw .roomFull(limit: maximumUsers) }
    guard !others.isEmpty || members.count < maximumRooms else { throw .tooManyRooms(limit: maximumRooms) }
    var deliveries = leave(id)
    members[room, default: []].append(id)
    roomOf[id] = room
    deliveries += others.map { Delivery(to: $0, notice: .joined(id)) }
    deliveries.append(Delivery(to: id, notice: .peers(you: id, others: others)))
    return deliveries
  }

  /// Takes somebody out of their room and tells those who stay.
  package mutating func leave(_ id: String) -> [Delivery] {
    guard let room = roomOf.removeValue(forKey: id) else { return [] }
    let staying = members(of: room).filter { $0 != id }
    members[room] = staying.isEmpty ? nil : staying
    return staying.map { Delivery(to: $0, notice: .left(id)) }
  }

  /// Passes a signal on, with the sender's id in place of the target's; nil unless both are in the same room.
  package func relay(_ signal: RelayedMessage, from sender: String, to target: String) -> Delivery? {
    guard sender != target, let room = roomOf[sender], roomOf[target] == room else { return nil }
    return Delivery(to: target, notice: .signal(signal, from: sender))
  }
}
