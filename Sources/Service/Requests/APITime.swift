/// Times as the API writes them: RFC 3339 in UTC with milliseconds, `2026-12-01T09:00:00.000Z`. Pure.
package enum APITime {
  private static let dayMilliseconds: Int64 = 86_400_000
  /// 9999-12-31T23:59:59.999Z.
  private static let maximum: Int64 = 253_402_300_799_999

  /// - Parameter milliseconds: since 1970; times before it and after the year 9999 are written as the nearest that can be.
  package static func text(_ milliseconds: Int64) -> String {
    let time = min(max(0, milliseconds), maximum)
    let (days, rest) = time.quotientAndRemainder(dividingBy: dayMilliseconds)
    let (year, month, day) = date(ofDay: days)
    func digits(_ value: Int64, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60].map { digits($0, 2) }
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(clock.joined(separator: ":"))"
      + ".\(digits(rest % 1_000, 3))Z"
  }

  /// Reads RFC 3339 with any offset and any number of digits of a second.
  ///
  /// - Returns: milliseconds since 1970, negative before it; nil for another text, and for a time after the year 9999.
  package static func parse(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard (20...40).contains(bytes.count) else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      return value
    }
    func isByte(_ index: Int, _ letters: String) -> Bool { letters.utf8.contains(bytes[index]) }
    guard let year = number(0..<4), isByte(4, "-"), let month = number(5..<7), isByte(7, "-"), let day = number(8..<10),
      isByte(10, "Tt"), let hour = number(11..<13), isByte(13, ":"), let minute = number(14..<16), isByte(16, ":"),
      let second = number(17..<19)
    else { return nil }
    guard (1...9999).contains(year), (1...12).contains(month), (1...daysOfMonth(month, year)).contains(day),
      hour < 24, minute < 60, second < 60
    else { return nil }
    var index = 19
    var fraction: Int64 = 0
    if isByte(index, ".") {
      let digits = bytes[(index + 1)...].prefix { (0x30...0x39).contains($0) }
      guard (1...9).contains(digits.count) else { return nil }
      for position in 0..<3 {
        fraction = fraction * 10 + (position < digits.count ? Int64(digits[digits.startIndex + position] - 0x30) : 0)
      }
      index += 1 + digits.count
    }
    guard index < bytes.count else { return nil }
    var offset: Int64 = 0
    if isByte(index, "Zz") {
      guard index + 1 == bytes.count else { return nil }
    } else {
      guard isByte(index, "+-"), index + 6 == bytes.count, isByte(index + 3, ":"),
        let hours = number(index + 1..<index + 3), let minutes = number(index + 4..<index + 6), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * 60_000 * (isByte(index, "-") ? -1 : 1)
    }
    let clock = ((hour * 60 + minute) * 60 + second) * 1_000 + fraction
    let time = day1970(year, month, day) * dayMilliseconds + clock - offset
    return time <= maximum ? time : nil
  }

  private static func daysOfMonth(_ month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that a leap day is the last of its year.
  private static func day1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }

  private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
