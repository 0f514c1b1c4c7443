/// The unit in which the values of a lane are written.
struct LaneUnit {
  var symbol: String
  /// What a value is divided by to be written.
  var divisor: Double
  var decimals: Int

  static let fps = LaneUnit(symbol: "fps", divisor: 1, decimals: 1)
  static let percent = LaneUnit(symbol: "%", divisor: 0.01, decimals: 1)
  static let level = LaneUnit(symbol: "dB", divisor: 1, decimals: 0)
  static let count = LaneUnit(symbol: "", divisor: 1, decimals: 0)

  /// As fits the highest value.
  static func bitrate(upTo high: Double) -> LaneUnit {
    high < 1e6
      ? LaneUnit(symbol: "kbit/s", divisor: 1e3, decimals: high < 1e4 ? 1 : 0)
      : LaneUnit(symbol: "Mbit/s", divisor: 1e6, decimals: high < 1e7 ? 2 : 1)
  }

  static func seconds(upTo high: Double) -> LaneUnit {
    high < 2
      ? LaneUnit(symbol: "ms", divisor: 1e-3, decimals: 0)
      : LaneUnit(symbol: "s", divisor: 1, decimals: high < 20 ? 2 : 0)
  }

  func number(_ value: Double) -> String { ReportFigure.fixed(value / divisor, decimals) }

  func text(_ value: Double) -> String { symbol.isEmpty ? number(value) : "\(number(value)) \(symbol)" }

  /// The least round number, in this unit, that is not below a value.
  func ceiling(_ value: Double) -> Double {
    let scaled = value / divisor
    guard scaled > 0, scaled < 1e12 else { return divisor }
    var power = 1.0
    while power < scaled { power *= 10 }
    while power > scaled { power /= 10 }
    let factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].first { $0 * power >= scaled * 0.999_999 } ?? 10
    return factor * power * divisor
  }
}
