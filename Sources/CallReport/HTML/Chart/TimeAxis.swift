/// The time axis that all drawings of a report share: from the check's start to its end.
struct TimeAxis {
  /// In seconds, above 0.
  let duration: Double

  init(duration: Double) {
    self.duration = duration.isFinite && duration > 0.01 ? duration : 1
  }

  /// A place on the axis in 0 to 1.
  func fraction(_ time: Double) -> Double {
    guard time.isFinite else { return 0 }
    return min(1, max(0, time / duration))
  }

  /// A place on the axis as a length that SVG takes.
  func percent(_ time: Double) -> String { Self.percent(fraction(time)) }

  static func percent(_ fraction: Double) -> String { ReportFigure.short(fraction * 100, 2) + "%" }

  /// At most nine round times, the first of them 0.
  var ticks: [Double] {
    let steps: [Double] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200]
    let step = steps.first { duration / $0 <= 8 } ?? (duration / 8).rounded(.up)
    return (0...8).map { Double($0) * step }.filter { $0 <= duration }
  }
}
