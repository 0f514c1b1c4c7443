/// A number with a unit as written on the command line, in rules and in network emulation: `30`, `1.5s`, `500kbit`,
/// `-30dB`. Times can have several parts, the larger unit first: `5m30s`.
package struct UnitValue: Sendable, Hashable {
  private struct Part: Sendable, Hashable {
    var number: Double
    /// As written, without surrounding spaces; empty if there is none.
    var unit: String
  }

  private static let maximumParts = 4

  private let parts: [Part]
  private let isNegative: Bool

  /// Parses a text; nil unless it consists of numbers with units and nothing else. A sign may precede the first number.
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

  /// Returns the sum of the parts.
  ///
  /// - Parameter units: the factor of each unit; the empty unit is that of a bare number.
  /// - Returns: nil if a unit is unknown, or is not smaller than the one before it.
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

  /// Returns the first unit that `units` does not contain.
  package func unit(notIn units: [String: Double]) -> String? {
    parts.first { units[$0.unit] == nil }?.unit
  }

  /// Whether it is a single number without a unit.
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

  /// Units of bitrate, in bits a second; `m` means a million here. In lower case: the caller ignores case.
  package static let bitrates: [String: Double] = {
    var units: [String: Double] = [:]
    for (prefix, factor) in ["": 1, "k": 1e3, "m": 1e6, "g": 1e9] {
      for name in ["bit", "bit/s", "b/s", "bps"] { units[prefix + name] = factor }
      if !prefix.isEmpty { units[prefix] = factor }
    }
    return units
  }()
}
