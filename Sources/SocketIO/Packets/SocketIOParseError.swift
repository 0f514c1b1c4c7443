import Media

/// Why a text of the server cannot be read. Each description is one sentence.
package enum SocketIOParseError: Error, Sendable, Hashable, CustomStringConvertible {
  case emptyPacket
  case unknownPacketType(UInt8)
  /// The parameters of an Engine.IO connection are not a JSON object with a session id.
  case invalidHandshake
  case binaryPacket
  /// A JSON text is damaged, or not of the kind that is expected here.
  case invalidJSON(bytes: Int)
  /// More values or levels than any message of the protocol has.
  case tooMuchJSON(values: Int, depth: Int)
  case tooLarge(bytes: Int, limit: Int)
  case noEventName
  /// A body of long polling whose lengths do not fit.
  case invalidPayload(bytes: Int)
  case unknownEvent(String)
  /// A field of an event is missing or has the wrong type.
  case unusable(event: String, field: String)
  /// An event has the payload `{}`, by which servers report an error or an unknown user.
  case emptyObject(event: String)

  package var description: String {
    switch self {
    case .emptyPacket:
      "A packet has at least 1 byte, but an empty one arrived."
    case .unknownPacketType(let byte):
      "A packet begins with the byte \(byte), which is no type of packet."
    case .invalidHandshake:
      "The first packet of the server is not a JSON object with a session id."
    case .binaryPacket:
      "A binary packet arrived, which the call signalling does not have."
    case .invalidJSON(let bytes):
      "A text of \(bytes) bytes is not the JSON that is expected there."
    case .tooMuchJSON(let values, let depth):
      "A message has \(values) values in \(depth) levels, more than the call signalling needs."
    case .tooLarge(let bytes, let limit):
      "A message may have \(limit) bytes, but one of \(bytes) arrived."
    case .noEventName:
      "An event is an array whose first value is its name, but another value arrived."
    case .invalidPayload(let bytes):
      "The lengths of the packets in a body of \(bytes) bytes do not fit."
    case .unknownEvent(let name):
      "There is no event \"\(name.printable(utf8Bytes: 40))\" from a server."
    case .unusable(let event, let field):
      "The field \(field) of an event \"\(event)\" is missing or of the wrong kind."
    case .emptyObject(let event):
      "The event \"\(event)\" has no fields, by which the server reports an error or an unknown user."
    }
  }
}
