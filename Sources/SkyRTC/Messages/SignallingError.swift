/// Why a text is not a message of the SkyRTC protocol.
public enum SignallingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not JSON, or not an object with an `eventName`.
  case notAMessage(bytes: Int)
  /// More than any message of the protocol has.
  case tooMuch(values: Int, depth: Int)
  /// An event that the protocol does not have, at least not in this direction.
  case unknownEvent(String)
  /// A part of an event is missing or of the wrong kind.
  case unusable(event: String, part: String)

  public var description: String {
    switch self {
    case .notAMessage(let bytes):
      "A message of \(bytes) bytes is not a JSON object with an eventName."
    case .tooMuch(let values, let depth):
      "A message has \(values) values in \(depth) levels, more than the protocol needs."
    case .unknownEvent(let name):
      "There is no event \"\(name.printable(utf8Bytes: 40))\" in this direction."
    case .unusable(let event, let part):
      "The \(part) of an \(event) is missing or of the wrong kind."
    }
  }
}
