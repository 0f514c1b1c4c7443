import Foundation

/// The wall clock of recordings: ISO 8601 in UTC with milliseconds.
enum RecordedClock {
  /// Milliseconds since 1970; nil for a text that is no time.
  static func milliseconds(_ text: String) -> Int64? {
    let exact = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let whole = Date.ISO8601FormatStyle()
    guard let date = (try? exact.parse(text)) ?? (try? whole.parse(text)) else { return nil }
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    // Until the year 10,000.
    return (0...253_402_300_800_000).contains(milliseconds) ? Int64(milliseconds) : nil
  }

  /// For example `2026-03-01T09:30:00.250Z`.
  static func text(_ milliseconds: Int64) -> String {
    // The style cuts digits off, so a little more than the value is given to it.
    Date(timeIntervalSince1970: (Double(milliseconds) + 0.1) / 1_000)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}
