/// A time of the server, with nanoseconds (google.protobuf.Timestamp; RFC 3339 in JSON).
package struct FirestoreTimestamp: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Seconds since 1970-01-01 in UTC.
  package let seconds: Int64
  /// 0 to 999,999,999.
  package let nanoseconds: Int32

  package init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = min(max(nanoseconds, 0), 999_999_999)
  }

  /// Parses a time in UTC such as `2026-11-24T21:03:04.123456Z`; nil if it is not one.
  package init?(parsing text: String) {
    let bytes = Array(text.utf8)
    guard (20...30).contains(bytes.count), bytes[bytes.count - 1] == UInt8(ascii: "Z") else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
      }
      return value
    }
    let separators: [(Int, Character)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
    for (index, character) in separators where bytes[index] != character.asciiValue { return nil }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month), (1...31).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if bytes.count > 20 {
      guard bytes[19] == UInt8(ascii: "."), bytes.count > 21, let value = number(20..<(bytes.count - 1)) else {
        return nil
      }
      fraction = value
      for _ in (bytes.count - 21)..<9 { fraction *= 10 }
    }
    // Days since 1970 by Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms": days_from_civil.
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let days = era * 146_097 + dayOfEra - 719_468
    self.init(seconds: days * 86_400 + hour * 3_600 + minute * 60 + second, nanoseconds: Int32(clamping: fraction))
  }

  /// The time `seconds` earlier.
  package func earlier(by duration: Duration) -> FirestoreTimestamp {
    FirestoreTimestamp(
      seconds: seconds.subtractingReportingOverflow(duration.components.seconds).partialValue, nanoseconds: nanoseconds)
  }

  package static func < (one: Self, other: Self) -> Bool {
    (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
  }

  package var description: String { "\(seconds) s and \(nanoseconds) ns" }
}
