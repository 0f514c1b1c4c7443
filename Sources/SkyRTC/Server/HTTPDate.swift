import Glibc

/// The date of an HTTP answer (RFC 9110, 5.6.7 and 6.6.1).
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  static var now: String { text(of: time(nil)) }

  /// Returns seconds since 1970 as `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(of seconds: time_t) -> String {
    var seconds = seconds
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = days[Int(parts.tm_wday) % days.count]
    let month = months[Int(parts.tm_mon) % months.count]
    return
      "\(day), \(two(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1_900) \(two(parts.tm_hour)):\(two(parts.tm_min)):"
      + "\(two(parts.tm_sec)) GMT"
  }
}
