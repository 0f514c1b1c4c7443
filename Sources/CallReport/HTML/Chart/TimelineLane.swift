import CallCheck

/// One row of a peer's timeline: one or two measurements over the time of the check.
struct TimelineLane {
  enum Shape {
    /// A line, and the space below it tinted.
    case area
    /// Lines, the second of them dashed.
    case lines
    /// A tick wherever something happened.
    case ticks
  }

  var name: String
  var shape: Shape
  var unit: LaneUnit
  var series: [LaneSeries]
  /// What the lowest and the highest edge stand for.
  var low: Double
  var high: Double
  /// What a rule requests, in the unit of the values.
  var limits: [Double] = []
  /// The measurements that are judged by what is drawn here.
  var measurements: [String] = []

  /// A lane from 0 to a round number above all values and limits, and as far below 0 as there are values.
  ///
  /// - Parameters:
  ///   - results: those of which the limits may belong to this lane.
  ///   - least: what the highest edge stands for at least, so that noise does not look like an event.
  ///   - symmetric: whether 0 is in the middle.
  init(
    _ name: String, _ shape: Shape = .area, unit: LaneUnit, measurements: [String] = [], _ series: [LaneSeries],
    results: [RuleResult] = [], least: Double = 0, symmetric: Bool = false
  ) {
    self.name = name
    self.shape = shape
    self.unit = unit
    self.series = series.filter { !$0.isEmpty }
    self.measurements = measurements
    limits = results.filter { result in
      result.limit.isFinite
        && measurements.contains { result.measurement == $0 || result.measurement.hasPrefix($0 + ".") }
    }.map(\.limit).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    let highest = self.series.compactMap(\.high).max() ?? 0
    let lowest = self.series.compactMap(\.low).min() ?? 0
    let size = max(highest, symmetric ? -lowest : 0, least)
    // A limit far above everything would press the line flat.
    let near = limits.filter { $0 <= max(size, unit.divisor) * 4 }.max() ?? 0
    high = unit.ceiling(max(size, near))
    low = symmetric ? -high : lowest < 0 ? -unit.ceiling(-lowest) : 0
  }

  var isEmpty: Bool { series.isEmpty }

  /// A place between the edges as 0 (lowest) to 1.
  func height(_ value: Double) -> Double {
    guard high > low else { return 0 }
    return min(1, max(0, (value - low) / (high - low)))
  }

  /// What the edges stand for, for example "0 to 30 fps".
  var scale: String {
    let unit = unit.symbol.isEmpty ? "" : " " + self.unit.symbol
    func number(_ value: Double) -> String { ReportFigure.short(value / self.unit.divisor, 2) }
    return low == -high ? "\u{B1} \(number(high))\(unit)" : "\(number(low)) to \(number(high))\(unit)"
  }

  /// The lane in a sentence, for those who do not see it.
  var summary: String {
    let parts = series.compactMap { series -> String? in
      guard let low = series.low, let high = series.high, let median = series.median else { return nil }
      let name = series.name.isEmpty ? "" : series.name + ": "
      if shape == .ticks { return "\(name)\(ReportFigure.fixed(series.values.reduce(0) { $0 + ($1 ?? 0) }, 0))" }
      return "\(name)median \(unit.text(median)), lowest \(unit.text(low)), highest \(unit.text(high))"
    }
    return "\(name). \(parts.joined(separator: "; "))."
  }
}
