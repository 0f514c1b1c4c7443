/// A number with a unit, as it is written in an impairment.
struct Quantity {
  var number: Double
  /// As written; empty if there is none.
  var unit: String

  /// Reads a number without a sign, digits with at most one point among them, and what follows it.
  init?(_ text: Substring) {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard digits.first?.isNumber == true, digits.last?.isNumber == true, let number = Double(digits) else { return nil }
    self.number = number
    unit = String(text.dropFirst(digits.count).trimmed)
  }

  /// What one of a unit is in bits a second.
  static let bitrates: [String: Double] = {
    var units: [String: Double] = [:]
    for (prefix, factor) in ["": 1, "k": 1e3, "m": 1e6, "g": 1e9] {
      for name in ["bit", "bit/s", "bps"] { units[prefix + name] = factor }
      // As bitrates are written elsewhere on the command line; a bare number says nothing.
      if !prefix.isEmpty { units[prefix] = factor }
    }
    return units
  }()

  /// The time that a step begins with.
  static func time(ofStep text: Substring) throws(Impairment.ParseError) -> Duration {
    guard let quantity = Quantity(text), let factor = ["ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12][quantity.unit]
    else { throw .badTime(String(text)) }
    let nanoseconds = (quantity.number * factor).rounded()
    guard nanoseconds <= 3.6e12 * 24 * 7 else { throw .badTime(String(text)) }
    return .nanoseconds(Int64(nanoseconds))
  }

  // MARK: Writing

  /// A time in the largest unit in which it is a whole number, else in milliseconds.
  static func text(_ time: Duration) -> String {
    let nanoseconds = time / .nanoseconds(1)
    if nanoseconds > 0, nanoseconds.truncatingRemainder(dividingBy: 1e9) != 0 {
      return number(nanoseconds / 1e6) + "ms"
    }
    return number(nanoseconds / 1e9) + "s"
  }

  static func percent(_ share: Double) -> String { number(share * 100) + "%" }

  static func bitrate(_ rate: Double) -> String {
    for (unit, factor) in [("Gbit", 1e9), ("Mbit", 1e6), ("kbit", 1e3)] where rate >= factor {
      let count = rate / factor
      if (count * 1_000).truncatingRemainder(dividingBy: 1) == 0 { return number(count) + unit }
    }
    return number(rate) + "bit"
  }

  /// Without needless zeros, to the millionth.
  static func number(_ value: Double) -> String {
    let rounded = (value * 1e6).rounded() / 1e6
    return rounded.rounded() == rounded ? "\(Int64(rounded))" : "\(rounded)"
  }
}

extension StringProtocol {
  /// Without spaces at both ends.
  var trimmed: SubSequence {
    guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace }) else {
      return self[endIndex...]
    }
    return self[start...end]
  }
}
