import Foundation
import Media

extension WallClock {
  /// ISO 8601 in UTC with milliseconds, for example `2026-03-01T09:30:00.125Z`.
  func text(at other: ContinuousClock.Instant) -> String {
    // The style cuts digits off instead of rounding, so a little more than the rounded value is given to it.
    let rounded = (seconds(at: other) * 1_000).rounded() / 1_000 + 0.000_1
    return Date(timeIntervalSince1970: rounded).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Nanoseconds since 2001-01-01 00:00 UTC, as WebM counts.
  func nanosecondsSince2001(at other: ContinuousClock.Instant) -> Int64 {
    Int64(exactly: ((seconds(at: other) - 978_307_200) * 1_000_000).rounded()).map { $0 &* 1_000 } ?? 0
  }
}
