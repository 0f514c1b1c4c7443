internal import JSON
internal import Media
package import Signalling

/// A message of the call signalling to the server.
///
/// The argument of the event is one string that holds JSON, because the clients of this protocol read no objects.
package enum OutgoingCallMessage: Sendable, Hashable {
  case login(userName: String)
  case callRequest(to: String)
  case callResponse(to: String, isAccepted: Bool)
  case offer(to: String, sdp: String)
  case answer(to: String, sdp: String)
  case candidate(to: String, TrickledCandidate)
  case hangUp(to: String)

  /// The Socket.IO event.
  package var packet: SocketIOPacket {
    switch self {
    case .login(let userName):
      Self.event("login", ["username": .string(UntrustedText(userName))])
    case .callRequest(let user):
      Self.event("call_request", ["ids": .array([.string(UntrustedText(user))])])
    case .callResponse(let user, let isAccepted):
      Self.event(
        "call_response",
        ["to": .string(UntrustedText(user)), "response": .string(UntrustedText(isAccepted ? "true" : "false"))])
    case .offer(let user, let sdp):
      Self.event("offer", ["to": .string(UntrustedText(user)), "type": "offer", "sdp": .string(UntrustedText(sdp))])
    case .answer(let user, let sdp):
      Self.event("answer", ["to": .string(UntrustedText(user)), "type": "answer", "sdp": .string(UntrustedText(sdp))])
    case .candidate(let user, let candidate):
      Self.event(
        "ice",
        [
          "to": .string(UntrustedText(user)), "candidate": .string(UntrustedText(candidate.candidate)),
          "sdpMid": .string(UntrustedText(candidate.mid ?? "")),
          // The index is a string in this protocol.
          "sdpMLineIndex": .string(UntrustedText("\(candidate.mLineIndex ?? 0)")),
        ])
    case .hangUp(let user):
      Self.event("disconnectpeer", ["to": .string(UntrustedText(user))])
    }
  }

  private static func event(_ name: String, _ fields: [String: JSONValue]) -> SocketIOPacket {
    .event(name, .string(UntrustedText(JSONValue.object(fields).text)))
  }
}
