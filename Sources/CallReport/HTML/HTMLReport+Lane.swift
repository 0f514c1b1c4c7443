import CallCheck

extension HTMLReport {
  func grid(_ lane: TimelineLane, _ height: Double, _ shades: [Interval], into page: inout Markup) {
    for shade in shades {
      let (start, end) = (axis.fraction(shade.start), axis.fraction(shade.start + shade.duration))
      page.empty(
        "rect",
        ["class": "shade", "x": TimeAxis.percent(start), "width": TimeAxis.percent(end - start), "height": "100%"])
    }
    for tick in axis.ticks {
      let position = axis.percent(tick)
      page.empty("line", ["class": "grid", "x1": position, "x2": position, "y1": "0", "y2": "100%"])
    }
    for value in lane.low < 0 && lane.high > 0 ? [lane.low, 0] : [lane.low] {
      let position = ReportFigure.short(y(value, lane, height), 1)
      page.empty("line", ["class": "floor", "x1": "0", "x2": "100%", "y1": position, "y2": position])
    }
    for limit in lane.limits.flatMap({ lane.low < 0 && $0 > 0 ? [$0, -$0] : [$0] })
    where limit >= lane.low && limit <= lane.high {
      let position = ReportFigure.short(y(limit, lane, height), 1)
      page.element("line", ["class": "limit", "x1": "0", "x2": "100%", "y1": position, "y2": position]) {
        $0.element("title", text: "A rule requests \(lane.unit.text(limit))")
      }
    }
  }

  func curve(
    _ series: LaneSeries, _ index: Int, _ lane: TimelineLane, _ height: Double, into page: inout Markup
  ) {
    func x(_ time: Double) -> String { ReportFigure.short(axis.fraction(time) * 1000, 1) }
    if lane.shape == .ticks {
      let top = index == 0 ? "2" : ReportFigure.short(height / 2 + 1)
      let marks = series.pieces.joined().filter { $0.value > 0 }.map {
        "M\(x($0.time)) \(top)v\(ReportFigure.short(height / 2 - 3))"
      }
      if !marks.isEmpty { page.empty("path", ["class": "tick series-\(index)", "d": marks.joined()]) }
      return
    }
    let floor = ReportFigure.short(height - 1)
    var line = ""
    var area = ""
    for piece in series.pieces {
      guard let first = piece.first, let last = piece.last else { continue }
      let points = piece.map { "\(x($0.time)) \(ReportFigure.short(y($0.value, lane, height), 1))" }.joined(
        separator: "L")
      // A line of no length with round ends is a dot.
      line += "M\(points)" + (piece.count == 1 ? "h0" : "")
      area += "M\(x(first.time)) \(floor)L\(points)L\(x(last.time)) \(floor)z"
    }
    if lane.shape == .area { page.empty("path", ["class": "area", "d": area]) }
    page.empty("path", ["class": "line series-\(index)", "d": line])
  }

  /// A value's place in a drawing, from its upper edge on, with room for the line's own width.
  private func y(_ value: Double, _ lane: TimelineLane, _ height: Double) -> Double {
    1 + (1 - lane.height(value)) * (height - 2)
  }
}
