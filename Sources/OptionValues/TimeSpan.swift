import Media

/// A duration as written on the command line: `90`, `90s`, `1.5s`, `10min`, `5m30s`, `1h`, `250ms`.
package struct TimeSpan: Sendable, Hashable, CustomStringConvertible {
  /// Never negative.
  package let milliseconds: Int64

  /// The maximum duration in hours: more than a hundred years.
  package static let maximumHours: Int64 = 1_000_000

  private static let units: [(name: String, milliseconds: Int64)] = [
    ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  package init(milliseconds: Int64) {
    self.milliseconds = max(0, milliseconds)
  }

  /// Parses numbers with the units h, m or min, s and ms; a bare number means seconds.
  package init(_ text: String) throws(ParseError) {
    if text.first == "-", text.dropFirst().first?.isNumber == true { throw .belowZero(text) }
    guard let quantity = UnitValue(text), text.first?.isNumber == true else { throw .noNumber(text) }
    let units = UnitValue.times.merging(["": 1]) { $1 }
    if let unknown = quantity.unit(notIn: units) { throw .unknownUnit(unknown) }
    guard let seconds = quantity.value(in: units) else { throw .noNumber(text) }
    guard seconds <= Double(Self.maximumHours * 3_600) else { throw .tooLong(text) }
    milliseconds = Int64((seconds * 1_000).rounded())
  }

  package var duration: Duration { .milliseconds(milliseconds) }

  /// The duration in the largest unit of which it is a multiple, in a form that can be parsed again.
  package var description: String {
    for unit in Self.units where milliseconds > 0 && milliseconds.isMultiple(of: unit.milliseconds) {
      return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
    return "0s"
  }

  /// For `transform:`, as `Bitrate.parse`.
  @Sendable package static func parse(_ text: String) throws -> TimeSpan { try TimeSpan(text) }

  /// Why a text is not a duration.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case noNumber(String)
    case belowZero(String)
    case unknownUnit(String)
    case tooLong(String)

    package var description: String {
      switch self {
      case .noNumber: "A duration is a number with a unit, like 90, 90s, 1.5s, 10m, 5m30s, 1h or 250ms."
      case .belowZero(let text): "A duration must not be negative, but this is \(text)."
      case .unknownUnit(let name):
        "\"\(name)\" is not a unit of time; use h, m or min, s or ms, like 10m or 250ms."
      case .tooLong: "A duration is at most \(TimeSpan.maximumHours) hours."
      }
    }
  }
}
