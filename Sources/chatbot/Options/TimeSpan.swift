import Media

/// A length of time as it is written on the command line: `90`, `90s`, `1.5s`, `10min`, `5m30s`, `1h`, `250ms`.
struct TimeSpan: Sendable, Hashable, CustomStringConvertible {
  /// Never below zero.
  let milliseconds: Int64

  /// A span is at most so many hours long: more than a hundred years.
  static let maximumHours: Int64 = 1_000_000

  private static let units: [(name: String, milliseconds: Int64)] = [
    ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  init(milliseconds: Int64) {
    self.milliseconds = max(0, milliseconds)
  }

  /// Reads numbers with units, h, m or min, s, ms; a bare number counts seconds.
  init(_ text: String) throws(ParseError) {
    if text.first == "-", text.dropFirst().first?.isNumber == true { throw .belowZero(text) }
    guard let quantity = UnitValue(text), text.first?.isNumber == true else { throw .noNumber(text) }
    let units = UnitValue.times.merging(["": 1]) { $1 }
    if let unknown = quantity.unit(notIn: units) { throw .unknownUnit(unknown) }
    guard let seconds = quantity.value(in: units) else { throw .noNumber(text) }
    guard seconds <= Double(Self.maximumHours * 3_600) else { throw .tooLong(text) }
    milliseconds = Int64((seconds * 1_000).rounded())
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
      case .noNumber: "A length of time is a number with a unit, like 90, 90s, 1.5s, 10m, 5m30s, 1h or 250ms."
      case .belowZero(let text): "A length of time is not below zero, as \(text) is."
      case .unknownUnit(let name):
        "\"\(name)\" is no unit of time here; there are h, m or min, s and ms, like 10m or 250ms."
      case .tooLong: "More than \(TimeSpan.maximumHours) hours cannot be waited for."
      }
    }
  }
}
