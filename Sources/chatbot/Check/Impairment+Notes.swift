import BotPeer
import CallCheck

extension Impairment {
  /// What was done and when, for the report.
  ///
  /// - Parameter zero: when media began to flow, in seconds since the check's start; scripts count from there.
  func notes(from zero: Double) -> [CheckReport.ImpairmentNote] {
    periods.map { period in
      CheckReport.ImpairmentNote(
        start: zero + period.start / .seconds(1), end: period.end.map { zero + $0 / .seconds(1) },
        direction: period.direction.rawValue, text: "\(period.conditions)")
    }
  }
}
