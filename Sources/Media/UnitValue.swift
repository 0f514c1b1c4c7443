/// A number with a unit as people write it on the command line, in rules and in impairments: `30`, `1.5s`, `500kbit`, `-30dB`. Of
/// times several may stand behind each other, the larger unit first: `5m30s`.
package struct UnitValue: Sendable, Hashable {
  private struct Part: Sendable, Hashable {
    var number: Double
    /// As written, without spaces around it; empty if there is none.
    var unit: String
  }

  private static let maximumParts = 4

  private let parts: [Part]
  private let isNegative: Bool

  /// Nil unless the text is numbers with units and nothing else. A sign may stand before the first number.
  package init?(_ text: some StringProtocol) {
    var rest = text[...]
    let sign = rest.first.flatMap { $0 == "-" || $0 == "+" ? $0 : nil }
    if sign != nil { rest = rest.dropFirst() }
    var parts: [Part] = []
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      guard parts.count < Self.maximumParts, digits.last?.isNumber == true, let number = Double(digits), number.isFinite
      else { return nil }
      rest = rest.dropFirst(digits.count)
      let unit = rest.prefix { !($0.isASCII && $0.isNumber) }
      rest = rest.dropFirst(unit.count)
      parts.append(Part(number: number, unit: Self.trimmed(unit)))
    }
    guard !parts.isEmpty else { return nil }
    self.parts = parts
    isNegative = sign == "-"
  }

  /// The sum of the parts.
  ///
  /// - Parameter units: what one of each unit is; the empty one is that of a bare number.
  /// - Returns: nil if a unit is not among them, or is not smaller than the one before it.
  package func value(in units: [String: Double]) -> Double? {
    var sum = 0.0
    var last = Double.infinity
    for part in parts {
      guard let factor = units[part.unit], factor < last, parts.count == 1 || !part.unit.isEmpty else { return nil }
      sum += part.number * factor
      last = factor
    }
    return isNegative ? -sum : sum
  }

  /// The first unit that is not among these.
  package func unit(notIn units: [String: Double]) -> String? {
    parts.first { units[$0.unit] == nil }?.unit
  }

  /// Whether it is a number without a unit.
  package var isBare: Bool { parts.count == 1 && parts[0].unit.isEmpty }
  /// Whether it is zero, whatever its units.
  package var isZero: Bool { parts.allSatisfy { $0.number == 0 } }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let kept = text.drop(while: \.isWhitespace)
    return String(kept.reversed().drop(while: \.isWhitespace).reversed())
  }
}

extension UnitValue {
  /// Units of time, in seconds.
  package static let times: [String: Double] = ["ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3_600]

  /// Units of bitrate, in bits a second; `m` is a million here. In lower case: how they are written does not count.
  package static let bitrates: [String: Double] = {
    var units: [String: Double] = [:]
    for (prefix, factor) in ["": 1, "k": 1e3, "m": 1e6, "g": 1e9] {
      for name in ["bit", "bit/s", "b/s", "bps"] { units[prefix + name] = factor }
      if !prefix.isEmpty { units[prefix] = factor }
    }
    return units
  }()
}
