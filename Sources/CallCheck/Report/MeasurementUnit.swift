import Media

/// What a measurement is counted in, how a rule writes it, and how a person reads it.
public enum MeasurementUnit: Sendable, Hashable, CaseIterable {
  /// Seconds.
  case time
  /// 0 to 1.
  case share
  /// Bits a second.
  case bitrate
  /// Frames a second.
  case videoRate
  /// dB: the audio's level, which is full scale (0) or below it.
  case level
  /// dB: a frame's likeness.
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
    case .videoRate: "fps"
    case .level, .decibels: "dB"
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
    case .videoRate: "24 or 24fps"
    case .level: "-30dB"
    case .decibels: "30dB"
    case .count: "2"
    case .pixels: "640 or 640px"
    case .score: "0.95"
    }
  }

  /// The units that a rule may write, with what one of each is in the measurement's own unit, in lower case but for times. The empty
  /// one is a bare number.
  var factors: [String: Double] {
    switch self {
    case .time: UnitValue.times
    case .share: ["%": 0.01, "": 1]
    case .bitrate: UnitValue.bitrates
    case .videoRate: ["": 1, "fps": 1]
    case .level, .decibels: ["db": 1, "dbfs": 1]
    case .count, .score: ["": 1]
    case .pixels: ["": 1, "px": 1]
    }
  }

  /// A figure as a person reads it, for example `2.03 s`.
  public func text(_ value: Double) -> String { text(value, more: 0) }

  /// A figure and a limit as a person reads them, with as many decimals as it takes to see which of them is larger.
  func texts(_ value: Double, against limit: Double) -> (value: String, limit: String) {
    var more = 0
    while more < 4, value != limit, shown(value, more: more) == shown(limit, more: more) { more += 1 }
    return (text(value, more: more), text(limit, more: more))
  }

  private func text(_ value: Double, more: Int) -> String {
    let form = form(value)
    return "\(decimal(value * form.factor, positions: form.positions + more))\(form.suffix)"
  }

  /// The figure that a text gives back.
  private func shown(_ value: Double, more: Int) -> Double {
    let form = form(value)
    let scale = (0..<form.positions + more).reduce(1.0) { scale, _ in scale * 10 }
    return (value * form.factor * scale).rounded() / scale / form.factor
  }

  /// What is shown of a value: how many of its unit, with how many decimals.
  private func form(_ value: Double) -> (factor: Double, positions: Int, suffix: String) {
    let size = abs(value)
    return switch self {
    case .time where size < 1: (1_000, size < 0.01 ? 1 : 0, " ms")
    case .time: (1, 2, " s")
    case .share: (100, size < 0.1 ? 2 : 1, " %")
    case .bitrate where size < 1e6: (1e-3, size < 1e4 ? 1 : 0, " kbit/s")
    case .bitrate: (1e-6, 2, " Mbit/s")
    case .videoRate: (1, 1, " fps")
    case .level, .decibels: (1, 1, " dB")
    case .count: (1, 0, "")
    case .pixels: (1, 0, " px")
    case .score: (1, 3, "")
    }
  }
}

/// A number with at most so many decimals, without zeros at their end.
func decimal(_ value: Double, positions: Int) -> String {
  guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
  let factor = (0..<positions).reduce(Int64(1)) { product, _ in product * 10 }
  let scaled = Int64((abs(value) * Double(factor)).rounded())
  let sign = value < 0 && scaled > 0 ? "-" : ""
  let (whole, rest) = scaled.quotientAndRemainder(dividingBy: factor)
  if rest == 0 { return "\(sign)\(whole)" }
  var digits = String(rest)
  digits = String(repeating: "0", count: positions - digits.count) + digits
  while digits.last == "0" { digits.removeLast() }
  return "\(sign)\(whole).\(digits)"
}
