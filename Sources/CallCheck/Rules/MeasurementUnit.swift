/// What a measurement is counted in, how a rule writes it, and how a person reads it.
public enum MeasurementUnit: Sendable, Hashable, CaseIterable {
  /// Seconds.
  case time
  /// 0 to 1.
  case share
  /// Bits a second.
  case bitrate
  /// Pictures a second.
  case pictureRate
  /// dB: a sound's level below full scale, or a picture's likeness.
  case decibels
  /// A number of things.
  case count
  case pixels
  /// A likeness of at most 1.
  case score

  /// As it stands beside a figure in a report.
  public var symbol: String {
    switch self {
    case .time: "s"
    case .bitrate: "bit/s"
    case .pictureRate: "fps"
    case .decibels: "dB"
    case .pixels: "px"
    case .share, .count, .score: ""
    }
  }

  /// How a rule writes a limit.
  public var example: String {
    switch self {
    case .time: "500ms or 2s"
    case .share: "2% or 0.02"
    case .bitrate: "300kbit or 2Mbit"
    case .pictureRate: "24 or 24fps"
    case .decibels: "-30dB or 30dB"
    case .count: "2"
    case .pixels: "640 or 640px"
    case .score: "0.95"
    }
  }

  /// The units that a rule may write, with what one of each is in the measurement's own unit. The empty one is a bare number.
  var factors: [(name: String, factor: Double)] {
    switch self {
    case .time: [("ms", 0.001), ("s", 1), ("min", 60), ("m", 60), ("h", 3_600)]
    case .share: [("%", 0.01), ("", 1)]
    case .bitrate:
      [
        ("bit", 1), ("kbit", 1e3), ("Mbit", 1e6), ("bit/s", 1), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("k", 1e3),
        ("M", 1e6),
      ]
    case .pictureRate: [("", 1), ("fps", 1)]
    case .decibels: [("dB", 1), ("dBFS", 1)]
    case .count, .score: [("", 1)]
    case .pixels: [("", 1), ("px", 1)]
    }
  }

  /// A figure as a person reads it, for example `2.03 s`.
  public func text(_ value: Double) -> String {
    switch self {
    case .time:
      if abs(value) < 1 { return "\(decimal(value * 1_000, places: abs(value) < 0.01 ? 1 : 0)) ms" }
      return "\(decimal(value, places: 2)) s"
    case .share: return "\(decimal(value * 100, places: abs(value) < 0.1 ? 2 : 1)) %"
    case .bitrate:
      if abs(value) < 1e6 { return "\(decimal(value / 1e3, places: abs(value) < 1e4 ? 1 : 0)) kbit/s" }
      return "\(decimal(value / 1e6, places: 2)) Mbit/s"
    case .pictureRate: return "\(decimal(value, places: 1)) fps"
    case .decibels: return "\(decimal(value, places: 1)) dB"
    case .count: return decimal(value, places: 0)
    case .pixels: return "\(decimal(value, places: 0)) px"
    case .score: return decimal(value, places: 3)
    }
  }
}
