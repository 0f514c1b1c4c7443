/// Something that must be true of a call, for example `video.fps >= 24`.
public struct Rule: Sendable, CustomStringConvertible {
  public let measurement: Measurement
  public let comparison: Comparison
  /// In the measurement's own unit.
  public let limit: Double
  /// The rule as it was written.
  public let text: String

  public var description: String { text }

  /// How a figure and the limit are compared.
  public enum Comparison: String, Sendable, Hashable, CaseIterable {
    case atLeast = ">="
    case atMost = "<="
    case equal = "=="
    case unequal = "!="
    case above = ">"
    case below = "<"

    /// Whether a figure is as it must be. Figures that differ by less than a report tells are equal.
    func holds(_ value: Double, _ limit: Double) -> Bool {
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

    /// What the rule requests, for a sentence: "at least".
    var words: String {
      switch self {
      case .atLeast: "at least"
      case .atMost: "at most"
      case .equal: "exactly"
      case .unequal: "anything but"
      case .above: "more than"
      case .below: "less than"
      }
    }
  }
}
