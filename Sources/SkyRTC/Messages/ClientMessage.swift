/// A message to the server: `__join`, `__offer`, `__answer` or `__ice_candidate`.
package enum ClientMessage: Sendable, Hashable {
  /// Enter a room.
  ///
  /// `former` is an addition of ours, sent as `you` and `secret`: after a lost connection a client requests the id it had, so
  /// that calls in progress continue under it, and shows the secret that came with it. Servers that do not know it give a new one.
  case join(room: String, former: FormerIdentity?)
  /// Tell the participant with this id something.
  case signal(RelayedMessage, to: String)

  /// The id that a server gave before, and what shows that it was given to us: see ``ServerMessage/peers(you:others:secret:)``.
  package struct FormerIdentity: Sendable, Hashable {
    package var id: String
    /// Nil if the server gave none.
    package var secret: String?

    package init(id: String, secret: String?) {
      self.id = id
      self.secret = secret
    }
  }

  /// The room of those who name none.
  package static let defaultRoom = "__default"

  /// The largest message, a page's own candidate, has some twenty.
  private static let maximumValues = 256

  /// Reads a message in JSON.
  package init(parsing text: String) throws(SignallingError) {
    let wire = try WireMessage(parsing: text, maximumValues: Self.maximumValues)
    let data = wire.data
    switch wire.eventName {
    case "__join":
      switch data?.room ?? .name("") {
      case .name(let name):
        let former = data?.you.map { FormerIdentity(id: $0, secret: data?.secret) }
        self = .join(room: name.isEmpty ? Self.defaultRoom : name, former: former)
      case .unusable: throw .unusable(event: wire.eventName, part: "room")
      }
    case "__offer":
      self = .signal(.offer(try wire.description(otherwise: "offer")), to: try wire.socketID())
    case "__answer":
      self = .signal(.answer(try wire.description(otherwise: "answer")), to: try wire.socketID())
    case "__ice_candidate":
      self = .signal(.candidate(try wire.candidate()), to: try wire.socketID())
    default:
      throw .unknownEvent(wire.eventName)
    }
  }

  /// The message in JSON.
  package var text: String {
    switch self {
    case .join(let room, let former):
      var data = WireMessage.Payload()
      data.room = .name(room)
      data.you = former?.id
      data.secret = former?.secret
      return WireMessage(eventName: "__join", data: data).text
    case .signal(let signal, let id):
      return WireMessage(prefix: "__", signal: signal, socketID: id).text
    }
  }
}
