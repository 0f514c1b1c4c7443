internal import Media

/// The id of a VideoRoom room or feed: a number, or a text on servers that are configured with `string_ids`.
public enum JanusID: Sendable, Hashable, CustomStringConvertible {
  case number(UInt64)
  case text(String)

  /// Interprets a text as people write it: digits are a number, everything else is a text. To name a room of a server
  /// with `string_ids` by digits, use ``text(_:)``.
  public init(_ text: String) {
    self = UInt64(text).map { .number($0) } ?? .text(text)
  }

  /// Texts are compared by their bytes.
  public static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.number(let one), .number(let other)): one == other
    case (.text(let one), .text(let other)): UntrustedText(one) == UntrustedText(other)
    case (.number, .text), (.text, .number): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .number(let number): hasher.combine(number)
    case .text(let text): hasher.combine(UntrustedText(text))
    }
  }

  public var description: String {
    switch self {
    case .number(let number): "\(number)"
    case .text(let text): text
    }
  }
}

extension JanusID: Codable {
  /// The maximum size of an id in bytes; ids are compared and hashed.
  private static let maximumBytes = 256

  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let number = try? value.decode(UInt64.self) {
      self = .number(number)
      return
    }
    let text = try value.decode(UntrustedText.self).string
    guard text.utf8.count <= Self.maximumBytes else {
      throw DecodingError.dataCorruptedError(in: value, debugDescription: "The id is too long.")
    }
    self = .text(text)
  }

  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .number(let number): try value.encode(number)
    case .text(let text): try value.encode(text)
    }
  }
}
