package import JSON
package import Media
package import Signalling

/// A message of the call signalling from the server.
///
/// It is read leniently: the argument may be an object or a string that holds one, numbers and booleans may be strings,
/// and unknown fields are ignored.
package enum IncomingCallMessage: Sendable, Hashable {
  /// `iceServers` is an addition of this project: STUN and TURN servers for the calls of this user.
  case login(isAccepted: Bool, iceServers: SignalledICEServers? = nil)
  case callRequest(from: ParticipantID)
  case callResponse(from: ParticipantID, isAccepted: Bool)
  case offer(from: ParticipantID, sdp: String)
  case answer(from: ParticipantID, sdp: String)
  case candidate(from: ParticipantID, TrickledCandidate)
  case hangUp(from: ParticipantID)

  /// The maximum size of the name of a user in bytes.
  package static let maximumNameBytes = 256

  /// Parses an event.
  package init(parsing event: String, arguments: [JSONValue]) throws(SocketIOParseError) {
    switch event {
    case "login", "call_request", "call_response", "offer", "answer", "ice", "disconnectpeer": break
    default: throw .unknownEvent(event)
    }
    let fields = try Self.object(in: arguments, of: event)
    if case .object(let values) = fields, values.isEmpty, event != "login" { throw .emptyObject(event: event) }
    switch event {
    case "login":
      // An empty object means that the server does not know the user.
      self = .login(
        isAccepted: fields["success"]?.lenientBool ?? false, iceServers: fields["iceServers"].flatMap(Self.iceServers))
    case "call_request":
      self = .callRequest(from: try Self.user(in: fields, of: event))
    case "call_response":
      self = .callResponse(
        from: try Self.user(in: fields, of: event), isAccepted: fields["response"]?.lenientBool ?? false)
    case "offer":
      self = .offer(from: try Self.user(in: fields, of: event), sdp: try Self.sdp(in: fields, of: event))
    case "answer":
      self = .answer(from: try Self.user(in: fields, of: event), sdp: try Self.sdp(in: fields, of: event))
    case "ice":
      guard case .string(let candidate)? = fields["candidate"] else {
        throw .unusable(event: event, field: "candidate")
      }
      let index = fields["sdpMLineIndex"]?.lenientInt.flatMap { (0...65_535).contains($0) ? $0 : nil }
      let mid = fields["sdpMid"]?.lenientText?.ascii.flatMap { $0.isEmpty ? nil : $0.prefix(utf8Bytes: 256) }
      self = .candidate(
        from: try Self.user(in: fields, of: event),
        TrickledCandidate(candidate: candidate.string, mid: mid, mLineIndex: index))
    default:
      self = .hangUp(from: try Self.user(in: fields, of: event))
    }
  }

  private static func object(in arguments: [JSONValue], of event: String) throws(SocketIOParseError) -> JSONValue {
    var value = arguments.first ?? .null
    if case .string(let text) = value { value = try JSONValue(parsing: text.string) }
    guard case .object = value else { throw .unusable(event: event, field: "argument") }
    return value
  }

  private static func iceServers(_ value: JSONValue) -> SignalledICEServers? {
    try? JSONReader.decode(SignalledICEServers.self, from: value.text, within: .init(values: 1_024))
  }

  private static func user(in fields: JSONValue, of event: String) throws(SocketIOParseError) -> ParticipantID {
    guard let name = fields["from"]?.lenientText, (1...maximumNameBytes).contains(name.utf8.count) else {
      throw .unusable(event: event, field: "from")
    }
    return ParticipantID(name.string)
  }

  /// The description, as a text or as an object with one.
  private static func sdp(in fields: JSONValue, of event: String) throws(SocketIOParseError) -> String {
    switch fields["sdp"] {
    case .string(let sdp)? where !sdp.isEmpty: return sdp.string
    case .object(let description)?:
      if case .string(let sdp)? = description["sdp"], !sdp.isEmpty { return sdp.string }
    default: break
    }
    throw .unusable(event: event, field: "sdp")
  }
}
