/// The wall clock as it is drawn.
package enum ClockText {
  /// Returns date and time in UTC, for example `2026-11-28 15:04:05 UTC`.
  ///
  /// - Parameter seconds: since 1970-01-01 00:00 UTC; years 1970 to 9999, others are clamped.
  package static func text(secondsSince1970 seconds: Double) -> String {
    // The end of the year 9999.
    let whole = seconds.isFinite ? Int(min(max(0, seconds), 253_402_300_799).rounded(.down)) : 0
    let (days, second) = whole.quotientAndRemainder(dividingBy: 86_400)
    // Years begin in March here, so that a leap day is the last one. 719,468 days are from 0000-03-01 to 1970-01-01.
    let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(dividingBy: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = 400 * era + yearOfEra + (month <= 2 ? 1 : 0)
    let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    return "\(date) \(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2)) UTC"
  }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }
}
