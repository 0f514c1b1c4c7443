package import Signalling

/// A message from the server: `_peers`, `_new_peer`, `_profile`, `_remove_peer`, `_offer`, `_answer` or
/// `_ice_candidate`.
package enum ServerMessage: Sendable, Hashable {
  /// The join succeeded: your id, and the ids of the participants who joined before. You send each of them an offer.
  ///
  /// `secret` is an addition of this project. A client that sends it with the id in a later join is assigned the id
  /// again. Only this client may know it. `iceServers` is one as well: STUN and TURN servers for this client, with credentials
  /// made for this join. `profiles` is one too, sent as `participants` beside `connections`: what others say of themselves, for
  /// those who say something.
  case peers(
    you: String, others: [String], secret: String? = nil, iceServers: SignalledICEServers? = nil,
    profiles: [String: ParticipantProfile] = [:])
  /// A participant joined; wait for their offer. `profile` is an addition of this project, sent as `name` and `records`.
  case joined(String, profile: ParticipantProfile = ParticipantProfile())
  /// A participant says something else of itself. An addition of this project.
  case profile(String, ParticipantProfile)
  /// A participant's connection to the server ended.
  case left(String)
  /// A signal from the participant with this id.
  case signal(RelayedMessage, from: String)

  /// `_peers` has up to six values for each participant of the room.
  private static let maximumValues = 24_000

  /// Parses a message in JSON.
  package init(parsing text: String) throws(SignallingError) {
    let wire = try WireMessage(parsing: text, maximumValues: Self.maximumValues)
    switch wire.eventName {
    case "_peers":
      guard let others = wire.data?.connections else { throw .unusable(event: "_peers", part: "connections") }
      guard let you = wire.data?.you else { throw .unusable(event: "_peers", part: "you") }
      self = .peers(
        you: you, others: others, secret: wire.data?.secret, iceServers: wire.data?.iceServers,
        profiles: wire.data?.profiles(of: others) ?? [:])
    case "_new_peer":
      self = .joined(try wire.socketID(), profile: wire.data?.profile ?? ParticipantProfile())
    case "_profile":
      self = .profile(try wire.socketID(), wire.data?.profile ?? ParticipantProfile())
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
    case .peers(let you, let others, let secret, let iceServers, let profiles):
      var data = WireMessage.Payload()
      data.connections = others
      data.you = you
      data.secret = secret
      data.iceServers = iceServers
      data.set(profiles, of: others)
      return WireMessage(eventName: "_peers", data: data).text
    case .joined(let id, let profile):
      return WireMessage(eventName: "_new_peer", socketID: id, profile: profile).text
    case .profile(let id, let profile):
      return WireMessage(eventName: "_profile", socketID: id, profile: profile).text
    case .left(let id):
      return WireMessage(eventName: "_remove_peer", socketID: id).text
    case .signal(let signal, let id):
      return WireMessage(prefix: "_", signal: signal, socketID: id, forOldPages: true).text
    }
  }
}
