/// A message from the server: `_peers`, `_new_peer`, `_remove_peer`, `_offer`, `_answer` or `_ice_candidate`.
package enum ServerMessage: Sendable, Hashable {
  /// You are in: your id, and the ids of those who were there before. You offer to each of them.
  ///
  /// `secret` is an addition of ours: who names it together with the id in a later join gets the id again. It is for nobody else.
  case peers(you: String, others: [String], secret: String? = nil)
  /// Somebody came; wait for their offer.
  case joined(String)
  /// Somebody's connection to the server ended.
  case left(String)
  /// The participant with this id says something.
  case signal(RelayedMessage, from: String)

  /// `_peers` has one for each participant of the room.
  private static let maximumValues = 12_000

  /// Reads a message in JSON.
  package init(parsing text: String) throws(SignallingError) {
    let wire = try WireMessage(parsing: text, maximumValues: Self.maximumValues)
    switch wire.eventName {
    case "_peers":
      guard let others = wire.data?.connections else { throw .unusable(event: "_peers", part: "connections") }
      guard let you = wire.data?.you else { throw .unusable(event: "_peers", part: "you") }
      self = .peers(you: you, others: others, secret: wire.data?.secret)
    case "_new_peer":
      self = .joined(try wire.socketID())
    case "_remove_peer":
      self = .left(try wire.socketID())
    case "_offer":
      self = .signal(.offer(try wire.description(otherwise: "offer")), from: try wire.socketID())
    case "_answer":
      self = .signal(.answer(try wire.description(otherwise: "answer")), from: try wire.socketID())
    case "_ice_candidate":
      self = .signal(.candidate(try wire.candidate()), from: try wire.socketID())
    default:
      throw .unknownEvent(wire.eventName)
    }
  }

  /// The message in JSON.
  package var text: String {
    switch self {
    case .peers(let you, let others, let secret):
      var data = WireMessage.Payload()
      data.connections = others
      data.you = you
      data.secret = secret
      return WireMessage(eventName: "_peers", data: data).text
    case .joined(let id):
      return WireMessage(eventName: "_new_peer", socketID: id).text
    case .left(let id):
      return WireMessage(eventName: "_remove_peer", socketID: id).text
    case .signal(let signal, let id):
      return WireMessage(prefix: "_", signal: signal, socketID: id, forOldPages: true).text
    }
  }
}
