/// How fast publishers come, as it is written on the command line: `10/s`, `90/m`, or `10` for as many a second.
struct RampRate: Sendable, Hashable, CustomStringConvertible {
  /// Publishers in a minute; at least 1.
  let perMinute: Int

  /// Joining faster than this is no ramp any more.
  static let fastest = 60_000

  init(perSecond: Int) {
    perMinute = min(max(1, perSecond), Self.fastest / 60) * 60
  }

  /// Reads a whole number with `/s`, `/m` or nothing behind it.
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

  /// When the publisher of that index is to come, counted from the first.
  func moment(of index: Int) -> Duration {
    .microseconds(Int64(max(0, index)) * 60_000_000 / Int64(perMinute))
  }

  /// Reading it gives the same rate.
  var description: String {
    perMinute.isMultiple(of: 60) ? "\(perMinute / 60)/s" : "\(perMinute)/m"
  }

  /// Why a text is no rate.
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
