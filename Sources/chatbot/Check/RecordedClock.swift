import FileSource
import FoundationEssentials

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

/// Times of manifests, which come from a file that anybody can have written, in units of `FileTime.rate`.
enum RecordedTime {
  /// A manifest's seconds; nil for what no recording can have.
  static func units(_ seconds: Double) -> Int64? {
    guard seconds.isFinite, abs(seconds) <= Double(FileTime.latestHours) * 3_600 else { return nil }
    // Manifests have milliseconds, which are whole numbers of units.
    return Int64((seconds * 1_000).rounded()) * Int64(FileTime.rate / 1_000)
  }

  static func seconds(_ units: Int64) -> Double { Double(units) / Double(FileTime.rate) }
}
