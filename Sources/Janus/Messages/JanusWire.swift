internal import Media

/// The JSON of every message of the server. Unknown fields are ignored; a field of an unexpected type counts as
/// missing, and so does a word of the protocol that is not ASCII. Sentences of the server are cut.
struct JanusWire: Decodable {
  var janus: String
  var transaction: String?
  var sessionID: UInt64?
  var sender: UInt64?
  var createdID: UInt64?
  var error: Failure?
  var plugin: Plugin?
  var jsep: JanusDescription?
  var candidate: JanusCandidate?
  var reason: String?
  var type: String?
  var mid: String?
  var isReceiving: Bool?
  var isUplink: Bool?
  var lost: Int?

  private enum CodingKeys: String, CodingKey {
    case janus, transaction, sender, data, error, plugindata, jsep, candidate, reason, type, mid, receiving, uplink,
      lost
    case sessionID = "session_id"
  }

  private struct Created: Decodable {
    var id: UInt64
  }

  struct Failure: Decodable {
    var code: Int
    var reason: String?

    private enum CodingKeys: CodingKey {
      case code, reason
    }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      code = try fields.decode(Int.self, forKey: .code)
      reason = try? fields.decodeIfPresent(UntrustedText.self, forKey: .reason)?.sentence
    }
  }

  struct Plugin: Decodable {
    var data: VideoRoomWire
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) -> Value? {
      try? fields.decodeIfPresent(type, forKey: key)
    }
    janus = try fields.decode(ASCIIText.self, forKey: .janus).string
    transaction = value(.transaction, ASCIIText.self)?.string
    sessionID = value(.sessionID)
    sender = value(.sender)
    createdID = value(.data, Created.self)?.id
    error = value(.error)
    plugin = value(.plugindata)
    jsep = value(.jsep)
    candidate = value(.candidate)
    reason = value(.reason, UntrustedText.self)?.sentence
    type = value(.type, ASCIIText.self)?.string
    mid = value(.mid, ASCIIText.self)?.string
    isReceiving = value(.receiving)
    isUplink = value(.uplink)
    lost = value(.lost)
  }
}

extension UntrustedText {
  /// A sentence of the server, cut to a length that a log shows.
  var sentence: String { string.prefix(utf8Bytes: 256) }
}
