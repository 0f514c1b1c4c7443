/// A condition that a call must meet, for example `video.fps >= 24`.
public struct Rule: Sendable, CustomStringConvertible {
  public let measurement: Measurement
  /// The number of the peer's stream that is measured, from 1. Always 1 for what is not measured for each stream.
  public let stream: Int
  public let comparison: Comparison
  /// The limit in the measurement's own unit, or a text.
  public let limit: RuleValue
  /// The rule as written.
  public let text: String

  public var description: String { text }

  /// The comparison of a value with the limit.
  public enum Comparison: String, Sendable, Hashable, CaseIterable {
    case atLeast = ">="
    case atMost = "<="
    case equal = "=="
    case unequal = "!="
    case above = ">"
    case below = "<"

    /// Whether the value meets the limit. Values that differ by less than a report's precision are equal.
    package func holds(_ value: Double, _ limit: Double) -> Bool {
      let isEqual = abs(value - limit) < 0.000_05
      return switch self {
      case .atLeast: value > limit || isEqual
      case .atMost: value < limit || isEqual
      case .equal: isEqual
      case .unequal: !isEqual
      case .above: value > limit && !isEqual
      case .below: value < limit && !isEqual
      }
    }

    /// Whether a text meets the limit; nil if texts are not compared so.
    package func holds(_ text: String, _ limit: String) -> Bool? {
      switch self {
      case .equal: text == limit
      case .unequal: text != limit
      case .atLeast, .atMost, .above, .below: nil
      }
    }

    /// The comparison in words, for a sentence: "at least".
    package var words: String {
      switch self {
      case .atLeast: "at least"
      case .atMost: "at most"
      case .equal: "exactly"
      case .unequal: "a value other than"
      case .above: "more than"
      case .below: "less than"
      }
    }
  }
}
