import FoundationEssentials

/// A token that authorizes HTTP requests (RFC 6750, 2.1). No description contains it.
public struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Why a text is not a token.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case tooLong(limit: Int)
    case invalidCharacter
    case unreadable(file: String)

    public var description: String {
      switch self {
      case .empty: "A bearer token is empty."
      case .tooLong(let limit): "A bearer token is longer than \(limit) bytes."
      case .invalidCharacter: "A bearer token contains a space or a character that is not printable ASCII."
      case .unreadable(let file): "The file \(file) with a bearer token cannot be read."
      }
    }
  }

  /// The maximum length in bytes.
  public static let maximumBytes = 8_192

  /// The token itself. Never log it.
  public let secret: String

  /// Creates a token from its text; white space around it is removed.
  public init(_ text: String) throws(ParseError) {
    let bytes = Array(text.utf8)
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
    else { throw .empty }
    let token = bytes[first...last]
    guard token.count <= Self.maximumBytes else { throw .tooLong(limit: Self.maximumBytes) }
    guard token.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .invalidCharacter }
    secret = String(decoding: token, as: UTF8.self)
  }

  /// Reads a token from a file that contains nothing else. Blocks while it reads.
  public init(file: String) throws(ParseError) {
    guard let data = try? Data(contentsOf: URL(filePath: file)) else { throw .unreadable(file: file) }
    try self.init(String(decoding: data.prefix(Self.maximumBytes * 2), as: UTF8.self))
  }

  /// The value of an `Authorization` header.
  var headerValue: String { "Bearer \(secret)" }

  public var description: String { "(a bearer token)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
