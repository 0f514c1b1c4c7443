internal import FoundationEssentials
internal import JSON
package import Media
package import Signalling

/// A message of the program: one line of JSON on its standard output. Pure.
package enum ExecMessage: Sendable, Hashable {
  /// - Parameter capabilities: the defaults, with what the program has said.
  case hello(version: Int, capabilities: SignallingCapabilities)
  case joined(id: ParticipantID, participants: [SignalledParticipant])
  case participantJoined(SignalledParticipant)
  case participantLeft(ParticipantID, isRejoinVerified: Bool)
  case message(SignallingMessage, from: ParticipantID)
  case iceServers(SignalledICEServers)
  case rejected(reason: String)
  case ended(reason: String)
  /// A type that this version does not know.
  case other(String)

  /// The maximum size of a line in bytes, without its end.
  package static let maximumBytes = 1 << 20
  private static let maximumValues = 32_768
  private static let maximumDepth = 16
  /// The maximum size of an id in bytes, and the number of bytes of a name or a reason that are used.
  private static let maximumID = 256
  private static let maximumText = 256

  /// Why a line is not a message. Each description is one sentence.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooMuch(values: Int, depth: Int)
    /// Not JSON, or not an object with `type`.
    case notAMessage(bytes: Int)
    case missing(field: String, of: String)

    package var description: String {
      switch self {
      case .tooMuch(let values, let depth):
        "A line has \(values) values in \(depth) levels, more than the protocol needs."
      case .notAMessage(let bytes): "A line of \(bytes) bytes is not a JSON object with \"type\"."
      case .missing(let field, let type): "A message of the type \(type) lacks a usable \(field)."
      }
    }
  }

  package init(parsing line: [UInt8]) throws(ParseError) {
    let limits = JSONLimits(bytes: Self.maximumBytes, values: Self.maximumValues, depth: Self.maximumDepth)
    let wire: ExecWire
    do {
      wire = try JSONReader.decode(ExecWire.self, from: Data(line), within: limits)
    } catch {
      switch error {
      case .tooMuch(let values, let depth): throw .tooMuch(values: values, depth: depth)
      case .tooLarge(let bytes, _), .invalid(let bytes): throw .notAMessage(bytes: bytes)
      }
    }
    try self.init(wire)
  }

  private init(_ wire: ExecWire) throws(ParseError) {
    switch wire.type {
    case "hello":
      guard let version = wire.version else { throw .missing(field: "version", of: "hello") }
      self = .hello(version: version, capabilities: wire.capabilities?.all ?? ExecCapabilities.defaults)
    case "joined":
      let id = try Self.id(wire.id, "id", of: "joined")
      if wire.hasUnusableParticipants { throw .missing(field: "participants", of: "joined") }
      var participants: [SignalledParticipant] = []
      for listed in wire.participants ?? [] {
        participants.append(try Self.participant(listed, weOffer: true, of: "joined"))
      }
      self = .joined(id: id, participants: participants)
    case "participantJoined":
      guard let participant = wire.participant else { throw .missing(field: "id", of: "participantJoined") }
      self = .participantJoined(try Self.participant(participant, weOffer: false, of: "participantJoined"))
    case "participantLeft":
      self = .participantLeft(
        try Self.id(wire.id, "id", of: "participantLeft"), isRejoinVerified: wire.isRejoinVerified)
    case "offer":
      guard let sdp = wire.sdp else { throw .missing(field: "sdp", of: "offer") }
      self = .message(.offer(sdp.string), from: try Self.id(wire.from, "from", of: "offer"))
    case "answer":
      guard let sdp = wire.sdp else { throw .missing(field: "sdp", of: "answer") }
      self = .message(.answer(sdp.string), from: try Self.id(wire.from, "from", of: "answer"))
    case "candidate":
      guard let candidate = wire.candidate?.ascii else { throw .missing(field: "candidate", of: "candidate") }
      self = .message(
        .candidate(TrickledCandidate(candidate: candidate, mid: wire.mid, mLineIndex: wire.mLineIndex)),
        from: try Self.id(wire.from, "from", of: "candidate"))
    case "iceServers":
      guard let servers = wire.iceServers else { throw .missing(field: "iceServers", of: "iceServers") }
      self = .iceServers(servers)
    case "rejected": self = .rejected(reason: Self.sentence(wire.reason))
    case "ended": self = .ended(reason: Self.sentence(wire.reason))
    default: self = .other(wire.type.printable(utf8Bytes: 40))
    }
  }

  private static func id(
    _ text: UntrustedText?, _ field: String, of type: String
  ) throws(ParseError) -> ParticipantID {
    guard let text, (1...maximumID).contains(text.utf8.count) else { throw .missing(field: field, of: type) }
    return ParticipantID(text.string)
  }

  private static func participant(
    _ wire: ExecWire.Participant, weOffer: Bool, of type: String
  ) throws(ParseError) -> SignalledParticipant {
    let name = wire.name.flatMap { $0.isEmpty ? nil : $0.string.prefix(utf8Bytes: maximumText) }
    return SignalledParticipant(
      try id(wire.id, "id", of: type), name: name, offerer: wire.weOffer ?? weOffer ? .local : .remote,
      direction: wire.direction, isExpected: wire.isExpected, isIdentityVerified: wire.isIdentityVerified,
      forwardsMedia: wire.direction == .receiveOnly)
  }

  /// The program's reason with a full stop, for people; empty if there is none.
  private static func sentence(_ text: UntrustedText?) -> String {
    guard let text, !text.isEmpty else { return "" }
    let shown = text.string.printable(utf8Bytes: maximumText)
    return shown.utf8.last == UInt8(ascii: ".") ? shown : shown + "."
  }
}
