internal import Media
internal import Signalling

/// The JSON of every message of the program. Unknown fields are ignored; a field of an unexpected type counts as missing.
struct ExecWire: Decodable {
  var type: String
  var version: Int?
  var capabilities: ExecCapabilities?
  var participant: Participant?
  var participants: [Participant]?
  /// Whether there is a list of participants that is none, or has one without an id.
  var hasUnusableParticipants: Bool
  var id: UntrustedText?
  var isRejoinVerified: Bool
  var from: UntrustedText?
  var sdp: UntrustedText?
  var candidate: UntrustedText?
  var mid: String?
  var mLineIndex: Int?
  var iceServers: SignalledICEServers?
  var reason: UntrustedText?

  private enum CodingKeys: String, CodingKey {
    case type, version, capabilities, participants, id, from, sdp, candidate, iceServers, reason
    case isRejoinVerified = "rejoinVerified"
    case mid = "sdpMid"
    case mLineIndex = "sdpMLineIndex"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) -> Value? {
      try? fields.decodeIfPresent(type, forKey: key)
    }
    type = try fields.decode(ASCIIText.self, forKey: .type).string
    version = value(.version)
    capabilities = value(.capabilities)
    // The fields of a participant stand beside the type.
    participant = try? Participant(from: decoder)
    participants = value(.participants)
    let isNamed = fields.contains(.participants) && (try? fields.decodeNil(forKey: .participants)) != true
    hasUnusableParticipants = isNamed && participants == nil
    id = value(.id)
    isRejoinVerified = value(.isRejoinVerified) ?? false
    from = value(.from)
    sdp = value(.sdp)
    candidate = value(.candidate)
    mid = value(.mid, ASCIIText.self)?.string
    let index = value(.mLineIndex, Int.self)
    mLineIndex = index.flatMap { (0...65_535).contains($0) ? $0 : nil }
    iceServers = value(.iceServers)
    reason = value(.reason)
  }

  /// A participant; only the id is required.
  struct Participant: Decodable {
    var id: UntrustedText
    var name: UntrustedText?
    var weOffer: Bool?
    var direction: SignalledParticipant.Direction
    var isExpected: Bool
    var isIdentityVerified: Bool

    private enum CodingKeys: String, CodingKey {
      case id, name, weOffer, direction
      case isExpected = "expected"
      case isIdentityVerified = "identityVerified"
    }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      func value<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) -> Value? {
        try? fields.decodeIfPresent(type, forKey: key)
      }
      id = try fields.decode(UntrustedText.self, forKey: .id)
      name = value(.name)
      weOffer = value(.weOffer)
      let named = value(.direction, ASCIIText.self)?.string
      direction = named == "sendOnly" ? .sendOnly : named == "receiveOnly" ? .receiveOnly : .sendReceive
      isExpected = value(.isExpected) ?? false
      isIdentityVerified = value(.isIdentityVerified) ?? false
    }
  }
}
