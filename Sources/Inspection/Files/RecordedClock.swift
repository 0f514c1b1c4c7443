import FileSource
import FoundationEssentials

/// The wall clock times of recordings: ISO 8601 in UTC with milliseconds.
package enum RecordedClock {
  /// Parses a text into milliseconds since 1970, or returns nil if it is not a time.
  package static func milliseconds(_ text: String) -> Int64? {
    let exact = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let whole = Date.ISO8601FormatStyle()
    guard let date = (try? exact.parse(text)) ?? (try? whole.parse(text)) else { return nil }
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    // Until the year 10,000.
    return (0...253_402_300_800_000).contains(milliseconds) ? Int64(milliseconds) : nil
  }

  /// Formats milliseconds since 1970, for example as `2026-03-01T09:30:00.250Z`.
  package static func text(_ milliseconds: Int64) -> String {
    // The style truncates, so the value is increased slightly.
    Date(timeIntervalSince1970: (Double(milliseconds) + 0.1) / 1_000)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}

/// The times in manifests, in units of `MediaTimebase.rate`. They are untrusted: anyone can have written the file.
package enum RecordedTime {
  /// Converts a manifest's seconds, or returns nil for a value that no recording can have.
  package static func units(_ seconds: Double) -> Int64? {
    guard seconds.isFinite, abs(seconds) <= Double(MediaTimebase.latestHours) * 3_600 else { return nil }
    // Manifests have milliseconds, which are multiples of the unit.
    return Int64((seconds * 1_000).rounded()) * Int64(MediaTimebase.rate / 1_000)
  }

  package static func seconds(_ units: Int64) -> Double { Double(units) / Double(MediaTimebase.rate) }
}
