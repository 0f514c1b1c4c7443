/// A message to the server: `__join`, `__offer`, `__answer` or `__ice_candidate`.
public enum SkyRTCRequest: Sendable, Hashable {
  /// Enter a room.
  ///
  /// `formerID` is an addition of ours, sent as `you`: after a lost connection a client asks for the id it had, so that
  /// calls in progress go on under it. Servers that do not know it give a new one.
  case join(room: String, formerID: String?)
  /// Tell the participant with this id something.
  case signal(PeerSignal, to: String)

  /// The room of those who name none.
  public static let defaultRoom = "__default"

  /// Reads a message in JSON.
  public init(parsing text: String) throws(SignallingError) {
    let wire = try WireMessage(parsing: text)
    let data = wire.data
    switch wire.eventName {
    case "__join":
      switch data?.room ?? .name("") {
      case .name(let name): self = .join(room: name.isEmpty ? Self.defaultRoom : name, formerID: data?.you)
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
  public var text: String {
    switch self {
    case .join(let room, let formerID):
      var data = WireMessage.Payload()
      data.room = .name(room)
      data.you = formerID
      return WireMessage(eventName: "__join", data: data).text
    case .signal(let signal, let id):
      return WireMessage(prefix: "__", signal: signal, socketID: id).text
    }
  }
}
