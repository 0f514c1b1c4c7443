import Media

/// Parses and formats the times, shares and bitrates of an impairment.
enum ImpairmentFormat {
  /// Parses the time at which a step begins.
  static func time(ofStep text: Substring) throws(Impairment.ParseError) -> Duration {
    guard let seconds = UnitValue(text)?.value(in: UnitValue.times), (0...maximumScript).contains(seconds) else {
      throw .badTime(String(text))
    }
    return .nanoseconds(Int64((seconds * 1e9).rounded()))
  }

  /// A week, in seconds.
  private static let maximumScript = 3_600.0 * 24 * 7

  /// Formats a time in seconds if it is a whole number of them, else in milliseconds.
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

  /// Formats a number without trailing zeros, rounded to a millionth.
  static func number(_ value: Double) -> String {
    let rounded = (value * 1e6).rounded() / 1e6
    return rounded.rounded() == rounded ? "\(Int64(rounded))" : "\(rounded)"
  }
}

extension StringProtocol {
  /// The text without whitespace at both ends.
  var trimmed: SubSequence {
    guard let start = firstIndex(where: { !$0.isWhitespace }), let end = lastIndex(where: { !$0.isWhitespace }) else {
      return self[endIndex...]
    }
    return self[start...end]
  }
}
