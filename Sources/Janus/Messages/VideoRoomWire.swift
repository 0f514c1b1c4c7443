internal import Media

/// The JSON of `plugindata.data`: all fields of all events of the VideoRoom plugin.
struct VideoRoomWire: Decodable {
  var videoroom: String?
  var id: JanusID?
  var privateID: UInt64?
  var publishers: [Feed]?
  var streams: [Stream]?
  var participants: [Feed]?
  var unpublished: JanusID?
  var leaving: JanusID?
  var kicked: JanusID?
  var reason: String?
  var errorCode: Int?
  var error: String?

  private enum CodingKeys: String, CodingKey {
    case videoroom, id, publishers, streams, participants, unpublished, leaving, kicked, reason, error
    case privateID = "private_id"
    case errorCode = "error_code"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) -> Value? {
      try? fields.decodeIfPresent(type, forKey: key)
    }
    videoroom = value(.videoroom, ASCIIText.self)?.string
    id = value(.id)
    privateID = value(.privateID)
    publishers = value(.publishers, [Lenient<Feed>].self)?.compactMap(\.value)
    streams = value(.streams, [Lenient<Stream>].self)?.compactMap(\.value)
    participants = value(.participants, [Lenient<Feed>].self)?.compactMap(\.value)
    unpublished = value(.unpublished)
    leaving = value(.leaving)
    kicked = value(.kicked)
    reason = value(.reason, UntrustedText.self)?.sentence
    errorCode = value(.errorCode)
    error = value(.error, UntrustedText.self)?.sentence
  }

  struct Feed: Decodable {
    var id: JanusID
    var display: String?
    var publisher: Bool?
    var dummy: Bool?
    var streams: [Stream]?

    private enum CodingKeys: CodingKey {
      case id, display, publisher, dummy, streams
    }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      id = try fields.decode(JanusID.self, forKey: .id)
      display = try? fields.decodeIfPresent(UntrustedText.self, forKey: .display)?.sentence
      publisher = try? fields.decodeIfPresent(Bool.self, forKey: .publisher)
      dummy = try? fields.decodeIfPresent(Bool.self, forKey: .dummy)
      streams = (try? fields.decodeIfPresent([Lenient<Stream>].self, forKey: .streams))?.compactMap(\.value)
    }
  }

  struct Stream: Decodable {
    var type: String
    var mid: String
    var disabled: Bool?
    /// What the publisher says of the stream.
    var description: String?

    /// The maximum size of a type or a `mid` in bytes.
    private static let maximumBytes = 256

    private enum CodingKeys: String, CodingKey {
      case type, mid, disabled, description
      case feedDescription = "feed_description"
    }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      type = try fields.decode(ASCIIText.self, forKey: .type).string
      mid = try fields.decode(ASCIIText.self, forKey: .mid).string
      guard type.utf8.count <= Self.maximumBytes, mid.utf8.count <= Self.maximumBytes else {
        throw DecodingError.dataCorruptedError(forKey: .mid, in: fields, debugDescription: "The mid is too long.")
      }
      disabled = try? fields.decodeIfPresent(Bool.self, forKey: .disabled)
      // The first in a subscription, the second in the list of a feed's streams.
      for key in [CodingKeys.feedDescription, .description] where description == nil {
        description = (try? fields.decodeIfPresent(UntrustedText.self, forKey: key))?.description
      }
    }
  }

  /// An element of an array that is skipped if it cannot be read.
  struct Lenient<Value: Decodable>: Decodable {
    var value: Value?

    init(from decoder: any Decoder) throws {
      value = try? Value(from: decoder)
    }
  }
}
