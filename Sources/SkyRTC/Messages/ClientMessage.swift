package import Signalling

/// A message to the server: `__join`, `__profile`, `__offer`, `__answer` or `__ice_candidate`.
package enum ClientMessage: Sendable, Hashable {
  /// Join a room.
  ///
  /// `former` is an addition of this project, sent as `you` and `secret`. After a lost connection a client requests its
  /// former id, so that calls in progress continue under it, and proves it with the secret. Servers that do not know
  /// this assign a new id. `profile` is an addition too, sent as `name` and `records`.
  case join(room: String, former: FormerIdentity?, profile: ParticipantProfile = ParticipantProfile())
  /// Say something else of oneself from now on. An addition of this project, `__profile` with `name` and `records`.
  case profile(ParticipantProfile)
  /// A signal to the participant with this id.
  case signal(RelayedMessage, to: String)

  /// The id that a server assigned before, with the secret that proves it: see
  /// ``ServerMessage/peers(you:others:secret:)``.
  package struct FormerIdentity: Sendable, Hashable {
    package var id: String
    /// Nil if the server sent none.
    package var secret: String?

    package init(id: String, secret: String?) {
      self.id = id
      self.secret = secret
    }
  }

  /// The room of a client that names none.
  package static let defaultRoom = "__default"

  /// The largest message, a candidate of the call page, has about twenty.
  private static let maximumValues = 256

  /// Parses a message in JSON.
  package init(parsing text: String) throws(SignallingError) {
    let wire = try WireMessage(parsing: text, maximumValues: Self.maximumValues)
    let data = wire.data
    switch wire.eventName {
    case "__join":
      switch data?.room ?? .name("") {
      case .name(let name):
        let former = data?.you.map { FormerIdentity(id: $0, secret: data?.secret) }
        self = .join(
          room: name.isEmpty ? Self.defaultRoom : name, former: former, profile: data?.profile ?? ParticipantProfile())
      case .unusable: throw .unusable(event: wire.eventName, part: "room")
      }
    case "__profile":
      guard let data else { throw .unusable(event: wire.eventName, part: "data") }
      self = .profile(data.profile)
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
    case .join(let room, let former, let profile):
      var data = WireMessage.Payload()
      data.room = .name(room)
      data.you = former?.id
      data.secret = former?.secret
      data.profile = profile
      return WireMessage(eventName: "__join", data: data).text
    case .profile(let profile):
      var data = WireMessage.Payload()
      data.profile = profile
      return WireMessage(eventName: "__profile", data: data).text
    case .signal(let signal, let id):
      return WireMessage(prefix: "__", signal: signal, socketID: id).text
    }
  }
}

/// A signal from one participant to another, which the server only relays.
package enum RelayedMessage: Sendable, Hashable {
  case offer(SignalledDescription)
  case answer(SignalledDescription)
  case candidate(TrickledCandidate)
}

/// A relayed session description, as a browser's `RTCSessionDescription` in JSON.
package struct SignalledDescription: Sendable, Hashable {
  /// The type that the sender states, `offer` or `answer`. Some old clients send their own offer back as an `_answer`.
  package var type: String
  /// The SDP text.
  package var sdp: String

  package init(type: String, sdp: String) {
    self.type = type
    self.sdp = sdp
  }
}
