import Media

/// Why a message of a data channel cannot be read. Each description is one sentence.
package enum DataMessageError: Error, Sendable, Hashable, CustomStringConvertible {
  case tooLarge(bytes: Int, limit: Int)
  /// More values or levels than any message has.
  case tooMuchJSON(values: Int, depth: Int)
  /// Not a JSON object.
  case notAnObject(bytes: Int)
  /// A binary message is not UTF-8.
  case notText(bytes: Int)
  case unknownSignal(String)
  /// A field is missing, has the wrong type or an impossible value.
  case unusable(message: String, field: String)

  package var description: String {
    switch self {
    case .tooLarge(let bytes, let limit):
      "A message may have \(limit) bytes, but one of \(bytes) arrived."
    case .tooMuchJSON(let values, let depth):
      "A message has \(values) values in \(depth) levels, more than a message of a data channel needs."
    case .notAnObject(let bytes):
      "A message of \(bytes) bytes is not a JSON object."
    case .notText(let bytes):
      "A binary message of \(bytes) bytes is not UTF-8, and so is not chat."
    case .unknownSignal(let signal):
      "There is no signal \"\(signal.printable(utf8Bytes: 40))\" in messages about files."
    case .unusable(let message, let field):
      "The \(field) of a \"\(message)\" message is missing or unusable."
    }
  }
}
