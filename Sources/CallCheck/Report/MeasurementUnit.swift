import Media

/// The unit of a measurement, how a rule writes it, and how a report shows it.
public enum MeasurementUnit: Sendable, Hashable, CaseIterable {
  /// Seconds.
  case time
  /// 0 to 1.
  case ratio
  /// Bits per second.
  case bitrate
  /// Frames per second.
  case frameRate
  /// dB relative to full scale: an audio level of at most 0.
  case level
  /// dB: the similarity of frames (PSNR).
  case decibels
  /// A plain number.
  case count
  case pixels
  /// A similarity of at most 1 (SSIM).
  case score
  /// None: the value is a text.
  case text

  /// The symbol beside a value in a report.
  public var symbol: String {
    switch self {
    case .time: "s"
    case .bitrate: "bit/s"
    case .frameRate: "fps"
    case .level, .decibels: "dB"
    case .pixels: "px"
    case .ratio, .count, .score, .text: ""
    }
  }

  /// An example of a limit in a rule.
  package var example: String {
    switch self {
    case .time: "500ms or 2s"
    case .ratio: "2% or 0.02"
    case .bitrate: "300kbit or 2Mbit"
    case .frameRate: "24 or 24fps"
    case .level: "-30dB"
    case .decibels: "30dB"
    case .count: "2"
    case .pixels: "640 or 640px"
    case .score: "0.95"
    case .text: "vp8"
    }
  }

  /// The units that a rule may use, each with its factor to the measurement's own unit. Units are in lower case except
  /// for times. The empty unit is a bare number.
  var factors: [String: Double] {
    switch self {
    case .time: UnitValue.times
    case .ratio: ["%": 0.01, "": 1]
    case .bitrate: UnitValue.bitrates
    case .frameRate: ["": 1, "fps": 1]
    case .level, .decibels: ["db": 1, "dbfs": 1]
    case .count, .score: ["": 1]
    case .text: [:]
    case .pixels: ["": 1, "px": 1]
    }
  }

  /// Returns a value as text for people, for example `2.03 s`.
  public func text(_ value: Double) -> String { text(value, more: 0) }

  /// Returns a value and a limit as texts for people, with enough decimals to show which of them is larger.
  package func texts(_ value: Double, against limit: Double) -> (value: String, limit: String) {
    var more = 0
    while more < 4, value != limit, shown(value, more: more) == shown(limit, more: more) { more += 1 }
    return (text(value, more: more), text(limit, more: more))
  }

  private func text(_ value: Double, more: Int) -> String {
    let form = form(value)
    return "\(decimal(value * form.factor, positions: form.positions + more))\(form.suffix)"
  }

  /// Returns the value that the text shows, after rounding.
  private func shown(_ value: Double, more: Int) -> Double {
    let form = form(value)
    let scale = (0..<form.positions + more).reduce(1.0) { scale, _ in scale * 10 }
    return (value * form.factor * scale).rounded() / scale / form.factor
  }

  /// Returns how a value is shown: the factor to the shown unit, the decimals and the suffix.
  private func form(_ value: Double) -> (factor: Double, positions: Int, suffix: String) {
    let size = abs(value)
    return switch self {
    case .time where size < 1: (1_000, size < 0.01 ? 1 : 0, " ms")
    case .time: (1, 2, " s")
    case .ratio: (100, size < 0.1 ? 2 : 1, " %")
    case .bitrate where size < 1e6: (1e-3, size < 1e4 ? 1 : 0, " kbit/s")
    case .bitrate: (1e-6, 2, " Mbit/s")
    case .frameRate: (1, 1, " fps")
    case .level, .decibels: (1, 1, " dB")
    case .count, .text: (1, 0, "")
    case .pixels: (1, 0, " px")
    case .score: (1, 3, "")
    }
  }
}

/// Returns a number with at most `positions` decimals, without trailing zeros.
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
