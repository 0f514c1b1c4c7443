/// The rate at which publishers join, as written on the command line: `10/s`, `90/m`, or `10` for ten a second.
struct RampRate: Sendable, Hashable, CustomStringConvertible {
  /// Publishers per minute; at least 1.
  let perMinute: Int

  /// The maximum rate; a faster one would not be a ramp.
  static let fastest = 60_000

  init(perSecond: Int) {
    perMinute = min(max(1, perSecond), Self.fastest / 60) * 60
  }

  /// Parses a whole number, followed by `/s`, `/m` or nothing.
  init(_ text: String) throws(ParseError) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let factor: Int
    switch text.dropFirst(digits.count) {
    case "", "/s": factor = 60
    case "/m", "/min": factor = 1
    default: throw .noRate(text)
    }
    guard !digits.isEmpty else { throw .noRate(text) }
    guard let number = Int(digits), number > 0, number <= Self.fastest / factor else { throw .outOfRange }
    perMinute = number * factor
  }

  /// The start time of the publisher with the given index, relative to the first.
  func moment(of index: Int) -> Duration {
    .microseconds(Int64(max(0, index)) * 60_000_000 / Int64(perMinute))
  }

  /// The rate in a form that can be parsed again.
  var description: String {
    perMinute.isMultiple(of: 60) ? "\(perMinute / 60)/s" : "\(perMinute)/m"
  }

  /// Why a text is not a rate.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case noRate(String)
    case outOfRange

    var description: String {
      switch self {
      case .noRate: "A ramp is a whole number of publishers a second or a minute, like 10/s or 90/m."
      case .outOfRange:
        "A ramp is between 1/m and \(RampRate.fastest / 60)/s."
      }
    }
  }
}
