internal import FoundationEssentials
package import Media
package import Signalling

/// A message to the program: one line of JSON on its standard input. Pure.
package enum ExecRequest: Sendable, Hashable, CustomStringConvertible {
  case hello(ExecHello)
  /// - Parameter formerID: our id before the connection was lost.
  case join(formerID: ParticipantID?)
  case message(SignallingMessage, to: ParticipantID)
  case hangUp(ParticipantID)
  case leave

  /// The version of the protocol.
  package static let version = 1

  /// The line with its end. Other characters that some readers take for the end of a line, such as U+2028, are escaped.
  package var line: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The fields are strings, numbers, truth values and lists of strings, which JSON can always express.
    guard let data = try? encoder.encode(wire) else { return "{}\n" }
    return UntrustedText(decoding: data).string.escapingInvisibleInJSON + "\n"
  }

  /// The type, without what may be secret.
  package var description: String { wire.type }

  private var wire: Wire {
    switch self {
    case .hello(let hello): Wire(type: "hello", hello: hello)
    case .join(let formerID): Wire(type: "join", formerID: formerID?.text)
    case .message(.offer(let sdp), let id): Wire(type: "offer", to: id.text, sdp: sdp)
    case .message(.answer(let sdp), let id): Wire(type: "answer", to: id.text, sdp: sdp)
    case .message(.candidate(let candidate), let id):
      Wire(
        type: "candidate", to: id.text, candidate: candidate.candidate, sdpMid: candidate.mid,
        sdpMLineIndex: candidate.mLineIndex)
    case .hangUp(let id): Wire(type: "hangUp", to: id.text)
    case .leave: Wire(type: "leave")
    }
  }

  /// All fields of all messages; those without a value are left out.
  private struct Wire: Encodable {
    var type: String
    var hello: ExecHello?
    var formerID: String?
    var to: String?
    var sdp: String?
    var candidate: String?
    var sdpMid: String?
    var sdpMLineIndex: Int?

    private enum CodingKeys: CodingKey {
      case type, formerID, to, sdp, candidate, sdpMid, sdpMLineIndex
    }

    func encode(to encoder: any Encoder) throws {
      var fields = encoder.container(keyedBy: CodingKeys.self)
      try fields.encode(type, forKey: .type)
      try fields.encodeIfPresent(formerID, forKey: .formerID)
      try fields.encodeIfPresent(to, forKey: .to)
      try fields.encodeIfPresent(sdp, forKey: .sdp)
      try fields.encodeIfPresent(candidate, forKey: .candidate)
      try fields.encodeIfPresent(sdpMid, forKey: .sdpMid)
      try fields.encodeIfPresent(sdpMLineIndex, forKey: .sdpMLineIndex)
      try hello?.encode(to: encoder)
    }
  }
}

/// What the program learns in our `hello`: what is to be joined, and as whom.
package struct ExecHello: Sendable, Hashable, Encodable, CustomStringConvertible, CustomReflectable {
  package var version = ExecRequest.version
  /// The room; nil for the default of the system.
  package var room: String?
  /// Our name.
  package var user: String?
  /// The users to call, where users call each other.
  package var callees: [String] = []
  /// The token of the server. It is never logged.
  package var token: String?
  /// Whether we send media, and whether we receive it.
  package var sends = true
  package var receives = true
  /// The maximum number of other participants; further ones are ignored.
  package var maximumParticipants = 256

  package init() {}

  /// Without secrets.
  package var description: String { "hello, version \(version)" }

  /// Without secrets, for `dump`.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
