package import Media

/// Any JSON value (RFC 8259), where the type of a field is not known before it is decoded.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(UntrustedText)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The value of a name; nil if there is none, or if this is no object.
  package subscript(_ key: String) -> JSONValue? {
    if case .object(let fields) = self { fields[key] } else { nil }
  }

  /// The text of a string; nil for other values.
  package var string: UntrustedText? { if case .string(let text) = self { text } else { nil } }

  /// A whole number; nil for other values.
  package var integer: Int64? { if case .number(let number) = self { Int64(exactly: number) } else { nil } }

  /// The boolean; nil for other values.
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
}

extension JSONValue: Codable {
  package init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let text = try? value.decode(UntrustedText.self) {
      self = .string(text)
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let values = try? value.decode([JSONValue].self) {
      self = .array(values)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let flag): try value.encode(flag)
    case .number(let number):
      if let whole = Int64(exactly: number) { try value.encode(whole) } else { try value.encode(number) }
    case .string(let text): try value.encode(text)
    case .array(let values): try value.encode(values)
    case .object(let fields): try value.encode(fields)
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) {
    self = .string(UntrustedText(text))
  }
}
