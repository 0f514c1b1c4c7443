internal import FileSource

/// Times of a composition for people.
package enum ShownTime {
  /// Returns hours, minutes and seconds with milliseconds, for example `1:02:03.250` or `2:03.250`.
  ///
  /// - Parameter units: in units of `MediaTimebase.rate`.
  package static func text(_ units: Int64) -> String {
    let magnitude = units.magnitude / UInt64(MediaTimebase.rate / 1_000)
    let (hours, rest) = magnitude.quotientAndRemainder(dividingBy: 3_600_000)
    let (minutes, milliseconds) = rest.quotientAndRemainder(dividingBy: 60_000)
    let seconds = "\(padded(milliseconds / 1_000, 2)).\(padded(milliseconds % 1_000, 3))"
    let clock = hours > 0 ? "\(hours):\(padded(minutes, 2)):\(seconds)" : "\(minutes):\(seconds)"
    return units < 0 ? "-\(clock)" : clock
  }

  private static func padded(_ number: UInt64, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
