import Media

extension Rule {
  /// The reason why a text is not a rule.
  public enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text contains none of `>=`, `<=`, `==`, `!=`, `>` and `<`.
    case noComparison(String)
    /// The name before the comparison or the limit after it is missing.
    case incomplete(String)
    case unknownName(String, near: [String])
    /// The number before the name is not that of a stream.
    case noStream(String)
    /// A measurement with the number of a stream that is not measured for each stream.
    case notOfStream(String, number: String)
    case noNumber(String, of: String)
    case unitNeeded(String, example: String, of: String)
    case unknownUnit(String, example: String, of: String)
    /// A share above 1 or below 0.
    case noShare(String, of: String)
    /// A level above full scale.
    case aboveFullScale(String, of: String)
    /// A text that the measurement never has.
    case unknownText(String, of: String, known: [String])
    /// Another comparison of a text than `==` and `!=`.
    case noOrder(Comparison, of: String, example: String)

    public var description: String {
      switch self {
      case .noComparison(let text):
        "\"\(text)\" is not a rule: it needs >=, <=, ==, !=, > or <, as in video.fps >= 24."
      case .incomplete(let text):
        "\"\(text)\" is not a rule: it needs a name, a comparison and a limit, as in video.fps >= 24."
      case .unknownName(let name, let near):
        near.isEmpty
          ? "There is no measurement \"\(name)\"."
          : "There is no measurement \"\(name)\"; the closest \(near.count == 1 ? "is" : "are") \(near.joined(separator: ", "))."
      case .noStream(let number):
        "\"\(number)\" is not the number of a stream: it is 1 to \(StreamReport.maximumCount), as in 2.video.fps >= 5."
      case .notOfStream(let name, let number):
        "\(name) is not measured for each stream of a peer: write it without \"\(number).\"."
      case .noNumber(let text, let name):
        "\"\(text)\" is not a number to compare \(name) with."
      case .unitNeeded(let text, let example, let name):
        "\(name) needs a unit: write \(example) instead of \(text)."
      case .unknownUnit(let unit, let example, let name):
        "\"\(unit)\" is not a unit of \(name): write it like \(example)."
      case .noShare(let text, let name):
        "\(name) is a share between 0 and 1, but \(text) is not: write it like 2% or 0.02."
      case .aboveFullScale(let text, let name):
        "\(name) is measured downwards from full scale, 0 dB, so it is never \(text): write it like -30dB."
      case .unknownText(let text, let name, let known):
        "\(name) is never \(text): it is \(Measurement.list(known))."
      case .noOrder(let comparison, let name, let example):
        "\(name) is a text, so it is not compared with \(comparison.rawValue): write \(name) == \(example), or !=."
      }
    }
  }

  /// Parses a rule: a name, with or without the number of a stream before it, a comparison and a limit with its unit.
  public init(_ text: String) throws(ParseError) {
    let parts = try RuleParts(text)
    let name = parts.name
    let (number, measured) = Self.stream(in: name)
    guard let measurement = Measurement.named(measured) else {
      throw .unknownName(name, near: NameSuggestions.of(measured, ofStream: number))
    }
    if let number {
      guard let stream = Int(number), (1...StreamReport.maximumCount).contains(stream) else { throw .noStream(number) }
      guard measurement.isOfStream else { throw .notOfStream(measured, number: number) }
      self.stream = stream
    } else {
      stream = 1
    }
    self.measurement = measurement
    comparison = parts.comparison
    if let texts = measurement.texts {
      guard [.equal, .unequal].contains(parts.comparison) else {
        throw .noOrder(parts.comparison, of: measurement.name, example: texts.first ?? "")
      }
      let text = parts.limit.lowercased()
      guard texts.contains(text) else { throw .unknownText(parts.limit, of: measurement.name, known: texts) }
      limit = .text(text)
    } else {
      limit = .number(try measurement.unit.limit(parts.limit, of: measurement.name))
    }
    self.text = parts.text
  }

  /// Splits `2.video.fps` into the number and the name of the measurement; the number is nil if there is none.
  private static func stream(in name: String) -> (number: String?, name: String) {
    guard let dot = name.firstIndex(of: "."), dot != name.startIndex,
      name[..<dot].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return (nil, name) }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

}

/// The parts of a rule, whatever it is about: a name, a comparison, and a limit with its unit.
package struct RuleParts: Sendable {
  package let name: String
  package let comparison: Rule.Comparison
  package let limit: String

  /// The rule with one space between its parts.
  package var text: String { "\(name) \(comparison.rawValue) \(limit)" }

  package init(_ text: String) throws(Rule.ParseError) {
    let text = text.trimmed
    guard let position = Self.comparison(in: text) else { throw .noComparison(text) }
    name = String(text[..<position.range.lowerBound]).trimmed
    comparison = position.comparison
    limit = String(text[position.range.upperBound...]).trimmed
    if name.isEmpty || limit.isEmpty { throw .incomplete(text) }
  }

  private static func comparison(
    in text: String
  ) -> (comparison: Rule.Comparison, range: Range<String.Index>)? {
    guard let start = text.firstIndex(where: { "<>=!".contains($0) }) else { return nil }
    let rest = text[start...]
    for comparison in [Rule.Comparison.atLeast, .atMost, .equal, .unequal, .above, .below]
    where rest.hasPrefix(comparison.rawValue) {
      return (comparison, start..<text.index(start, offsetBy: comparison.rawValue.count))
    }
    return nil
  }
}

extension MeasurementUnit {
  /// Parses the limit of a rule.
  ///
  /// - Parameter name: the measurement, for errors.
  /// - Returns: The limit in this unit.
  package func limit(_ text: String, of name: String) throws(Rule.ParseError) -> Double {
    guard let quantity = UnitValue(self == .time ? text : text.lowercased()) else { throw .noNumber(text, of: name) }
    var factors = factors
    // Zero needs no unit.
    if quantity.isBare, quantity.isZero { factors[""] = 1 }
    if quantity.isBare, factors[""] == nil { throw .unitNeeded(text, example: example, of: name) }
    if let unknown = quantity.unit(notIn: factors) { throw .unknownUnit(unknown, example: example, of: name) }
    guard let limit = quantity.value(in: factors), abs(limit) <= 1e15 else { throw .noNumber(text, of: name) }
    if self == .level, limit > 0 { throw .aboveFullScale(text, of: name) }
    if self == .ratio || self == .score, !(0...1).contains(limit) { throw .noShare(text, of: name) }
    return limit
  }
}

extension String {
  /// The text without spaces and tabs at both ends.
  var trimmed: String {
    func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
    return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }
}
