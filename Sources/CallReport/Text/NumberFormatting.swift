/// Formats numbers for people, in the same way on every machine.
enum NumberFormatting {
  /// Returns a number with `decimals` decimals, rounded half away from zero; "-" if it is not finite.
  static func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "-" }
    let decimals = min(6, max(0, decimals))
    let unit = (0..<decimals).reduce(1) { unit, _ in unit * 10 }
    let scaled = Int((abs(value) * Double(unit)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard decimals > 0 else { return sign + String(scaled) }
    let fraction = String(scaled % unit)
    return sign + String(scaled / unit) + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
  }

  /// Returns the same without trailing zeros.
  static func short(_ value: Double, _ decimals: Int = 3) -> String {
    var text = fixed(value, decimals)
    guard text.contains(".") else { return text }
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// Returns a number with about three significant digits, for example "2.03", "24.9", "812".
  static func digits(_ value: Double) -> String {
    switch abs(value) {
    case ..<10: short(value, 2)
    case ..<100: short(value, 1)
    default: fixed(value, 0)
    }
  }

  /// Returns a duration: "80 ms", "2.03 s", and from two minutes on "3:07 min", "2:05:00 h".
  static func seconds(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    switch abs(value) {
    case ..<1: return fixed(value * 1000, 0) + " ms"
    case ..<120: return short(value, 2) + " s"
    default: return clock(value)
    }
  }

  /// Returns a time since the check's start: "8.1 s", "2:05 min".
  static func time(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    return abs(value) < 120 ? short(value, 1) + " s" : clock(value)
  }

  static func bitrate(_ value: Double) -> String {
    switch abs(value) {
    case ..<1e3: fixed(value, 0) + " bit/s"
    case ..<1e6: digits(value / 1e3) + " kbit/s"
    default: digits(value / 1e6) + " Mbit/s"
    }
  }

  static func share(_ value: Double) -> String { short(value * 100, abs(value) < 0.1 ? 2 : 1) + " %" }

  static func bytes(_ value: Int) -> String {
    switch value {
    case ..<1000: "\(value) bytes"
    case ..<1_000_000: digits(Double(value) / 1e3) + " kB"
    default: digits(Double(value) / 1e6) + " MB"
    }
  }

  /// Returns a whole number with thin spaces between thousands.
  static func count(_ value: UInt64) -> String {
    let digits = Array(String(value))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append("\u{202F}") }
      text.append(digit)
    }
    return text
  }

  static func plural(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }

  private static func clock(_ value: Double) -> String {
    let whole = Int(min(1e9, abs(value)).rounded())
    let sign = value < 0 ? "-" : ""
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    if whole < 3600 { return "\(sign)\(whole / 60):\(two(whole % 60)) min" }
    return "\(sign)\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60)) h"
  }
}
