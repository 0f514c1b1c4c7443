/// The rate at which publishers join.
public struct RampRate: Sendable, Hashable, CustomStringConvertible {
  /// Publishers per minute, 1 to 60,000.
  public let perMinute: Int

  /// The maximum; a faster rate would not be a ramp.
  private static let maximumPerMinute = 60_000

  /// - Parameter perMinute: Limited to 1 to 60,000.
  public init(perMinute: Int) {
    self.perMinute = min(max(1, perMinute), Self.maximumPerMinute)
  }

  /// - Parameter perSecond: Limited to 1 to 1,000.
  public init(perSecond: Int) {
    self.init(perMinute: min(max(1, perSecond), Self.maximumPerMinute / 60) * 60)
  }

  /// Parses `10/s`, `90/m`, or `10` for ten a second.
  package init(_ text: String) throws(ParseError) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let factor: Int
    switch text.dropFirst(digits.count) {
    case "", "/s": factor = 60
    case "/m", "/min": factor = 1
    default: throw .noRate(text)
    }
    guard !digits.isEmpty else { throw .noRate(text) }
    guard let number = Int(digits), number > 0, number <= Self.maximumPerMinute / factor else { throw .outOfRange }
    perMinute = number * factor
  }

  /// The start time of the publisher with the given index, relative to the first.
  package func moment(of index: Int) -> Duration {
    .microseconds(Int64(max(0, index)) * 60_000_000 / Int64(perMinute))
  }

  /// The rate as `10/s` or `90/m`.
  public var description: String {
    perMinute.isMultiple(of: 60) ? "\(perMinute / 60)/s" : "\(perMinute)/m"
  }

  /// Why a text is not a rate.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case noRate(String)
    case outOfRange

    package var description: String {
      switch self {
      case .noRate: "A ramp is a whole number of publishers a second or a minute, like 10/s or 90/m."
      case .outOfRange:
        "A ramp is between 1/m and \(RampRate.maximumPerMinute / 60)/s."
      }
    }
  }
}
