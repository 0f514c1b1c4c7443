/// What a rule compares: a number in the unit of its measurement, or a text such as the name of a codec. In JSON it is a number or a
/// string.
public enum RuleValue: Sendable, Hashable {
  case number(Double)
  case text(String)

  /// The number; nil if the value is a text.
  public var number: Double? {
    if case .number(let value) = self { value } else { nil }
  }

  /// The text; nil if the value is a number.
  public var text: String? {
    if case .text(let text) = self { text } else { nil }
  }
}

extension RuleValue: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(integerLiteral value: Int) { self = .number(Double(value)) }
  public init(stringLiteral value: String) { self = .text(value) }
}

extension RuleValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      self = .text(text)
    } else {
      self = .number(try container.decode(Double.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .number(let value): try container.encode(value)
    case .text(let text): try container.encode(text)
    }
  }
}
