import Foundation

/// A JSON value that is `Sendable`.
enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case list([JSON])
  case object([String: JSON])

  init(parsing text: String) throws {
    self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
  }

  /// The value as JSON in one line.
  var text: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// Returns the member with that name, or `.null` if there is none.
  subscript(name: String) -> JSON {
    guard case .object(let members) = self else { return .null }
    return members[name] ?? .null
  }

  /// Returns the element at that index, or `.null` if there is none.
  subscript(index: Int) -> JSON {
    guard case .list(let elements) = self, elements.indices.contains(index) else { return .null }
    return elements[index]
  }

  var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The number, also if it is written as a string, as by ffprobe.
  var double: Double? {
    switch self {
    case .number(let value): value
    case .string(let value): Double(value)
    default: nil
    }
  }

  var int: Int? { double.flatMap { Int(exactly: $0.rounded()) } }

  var string: String? {
    if case .string(let value) = self { value } else { nil }
  }

  var list: [JSON] {
    if case .list(let elements) = self { elements } else { [] }
  }

  /// Returns a date member, ISO 8601 with milliseconds, in seconds since 1970.
  func date(_ name: String) -> Double? {
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return self[name].string.flatMap { try? format.parse($0) }?.timeIntervalSince1970
  }

  var members: [String: JSON] {
    if case .object(let members) = self { members } else { [:] }
  }
}

extension JSON: Codable {
  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let list = try? value.decode([JSON].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value):
      if let whole = Int(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
    case .string(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(integerLiteral value: Int) { self = .number(Double(value)) }
  init(floatLiteral value: Double) { self = .number(value) }
  init(arrayLiteral elements: JSON...) { self = .list(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements) { $1 })
  }
  init(nilLiteral: ()) { self = .null }
}
