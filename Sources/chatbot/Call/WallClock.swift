import Foundation

/// The one place where the program reads the time of day.
enum WallClock {
  /// Seconds since 1970-01-01 00:00 UTC.
  static func secondsSince1970() -> Double {
    Date().timeIntervalSince1970
  }
}
