/// A length of time as it is written on the command line: `90`, `90s`, `10m`, `1h`, `250ms`.
struct TimeSpan: Sendable, Hashable, CustomStringConvertible {
  /// Never below zero.
  let milliseconds: Int64

  /// A span is at most so many hours long: more than a hundred years.
  static let mostHours: Int64 = 1_000_000

  private static let units: [(name: String, milliseconds: Int64)] = [
    ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  init(milliseconds: Int64) {
    self.milliseconds = max(0, milliseconds)
  }

  /// Reads a whole number with a unit: h, m, s or ms; without one it counts seconds.
  init(_ text: String) throws(ParseError) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text.dropFirst(digits.count)
    if text.first == "-", text.dropFirst().first?.isNumber == true { throw .belowZero(text) }
    guard !digits.isEmpty else { throw .noNumber(text) }
    guard let unit = Self.units.first(where: { $0.name == (name.isEmpty ? "s" : name) }) else {
      throw .unknownUnit(String(name))
    }
    guard
      let count = Int64(digits),
      case let (milliseconds, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds), !overflow,
      milliseconds <= Self.mostHours * 3_600_000
    else { throw .tooLong(text) }
    self.milliseconds = milliseconds
  }

  var duration: Duration { .milliseconds(milliseconds) }

  /// The span in the largest unit that it is a whole number of; reading it gives the same span.
  var description: String {
    for unit in Self.units where milliseconds > 0 && milliseconds.isMultiple(of: unit.milliseconds) {
      return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
    return "0s"
  }

  /// Why a text is no length of time.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case noNumber(String)
    case belowZero(String)
    case unknownUnit(String)
    case tooLong(String)

    var description: String {
      switch self {
      case .noNumber: "A length of time is a whole number with a unit, like 90, 90s, 10m, 1h or 250ms."
      case .belowZero(let text): "A length of time is not below zero, as \(text) is."
      case .unknownUnit(let name): "\"\(name)\" is no unit of time here; there are h, m, s and ms, like 10m or 250ms."
      case .tooLong: "More than \(TimeSpan.mostHours) hours cannot be waited for."
      }
    }
  }
}
