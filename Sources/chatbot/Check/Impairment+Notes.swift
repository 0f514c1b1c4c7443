import BotPeer
import CallCheck

extension Impairment {
  /// What was done and when, for the report.
  ///
  /// - Parameter zero: when the first packet of media came, in seconds since the check's start: scripts count from there,
  ///   and what holds at their beginning holds before, too.
  func notes(from zero: Double) -> [CheckReport.ImpairmentNote] {
    periods.map { period in
      CheckReport.ImpairmentNote(
        start: period.start == .zero ? 0 : zero + period.start / .seconds(1),
        end: period.end.map { zero + $0 / .seconds(1) },
        direction: period.direction.rawValue, text: "\(period.conditions)")
    }
  }
}
