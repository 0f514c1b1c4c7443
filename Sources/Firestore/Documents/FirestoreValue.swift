package import Media

/// A value of a field (REST reference, `Value`). Types that signalling does not use are read as `other`.
package enum FirestoreValue: Sendable, Hashable {
  case string(UntrustedText)
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  case null
  case other

  package var text: UntrustedText? { if case .string(let text) = self { text } else { nil } }

  /// An integer, or a double that is one: JavaScript programs may write either.
  package var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    default: nil
    }
  }
}

extension FirestoreValue: Codable {
  private enum Key: String, CodingKey {
    case stringValue, integerValue, doubleValue, booleanValue, nullValue
  }

  package init(from decoder: any Decoder) throws {
    guard let container = try? decoder.container(keyedBy: Key.self) else {
      self = .other
      return
    }
    if let text = try? container.decode(UntrustedText.self, forKey: .stringValue) {
      self = .string(text)
    } else if container.contains(.integerValue) {
      // 64 bits do not fit into a JSON number, so they are sent as text.
      let text = try? container.decode(ASCIIText.self, forKey: .integerValue).string
      let number = try? container.decode(Int64.self, forKey: .integerValue)
      self = (text.flatMap { Int64($0) } ?? number).map { .integer($0) } ?? .other
    } else if let number = try? container.decode(Double.self, forKey: .doubleValue) {
      self = .double(number)
    } else if let flag = try? container.decode(Bool.self, forKey: .booleanValue) {
      self = .boolean(flag)
    } else {
      self = container.contains(.nullValue) ? .null : .other
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .string(let text): try container.encode(text, forKey: .stringValue)
    case .integer(let value): try container.encode(String(value), forKey: .integerValue)
    case .double(let value): try container.encode(value, forKey: .doubleValue)
    case .boolean(let value): try container.encode(value, forKey: .booleanValue)
    case .null, .other: try container.encodeNil(forKey: .nullValue)
    }
  }
}
