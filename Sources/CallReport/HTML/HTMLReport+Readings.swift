import CallCheck

extension HTMLReport {
  /// Values of a series that can be read at most, and rows of the table.
  private static let (mostReadings, mostRows) = (300, 20)

  /// The length of time for which a lane gives one value to be read, in seconds.
  func bucketStep(_ lane: TimelineLane) -> Double {
    guard let series = lane.series.first else { return 1 }
    return series.step * Double(series.bucketLength(limit: Self.mostReadings))
  }

  /// The values of a lane for the script to show: of each series one for each bucket, with spaces between them, and `|` between
  /// series; `-` is none.
  func readings(_ lane: TimelineLane) -> String {
    lane.series.map { series in
      series.held.buckets(limit: Self.mostReadings).map { Self.text($0, lane.unit) ?? "-" }.joined(separator: " ")
    }.joined(separator: "|")
  }

  /// The same as the drawings in numbers.
  func table(_ lanes: [TimelineLane], _ timeline: CheckTimeline, into page: inout Markup) {
    let columns = lanes.flatMap { lane in lane.series.map { (lane, $0, $0.buckets(limit: Self.mostRows)) } }
    guard let rows = columns.map(\.2.count).max(), let first = columns.first?.1 else { return }
    let length = first.step * Double(first.bucketLength(limit: Self.mostRows))
    page.element("details", ["class": "numbers"]) { page in
      page.element("summary", text: "The same in numbers")
      page.element("div", ["class": "scroll"]) { page in
        page.element("table") { page in
          page.element("thead") { page in
            page.element("tr") { page in
              page.element("th", ["scope": "col"], text: "From")
              for (lane, series, _) in columns {
                let unit = lane.unit.symbol.isEmpty ? "" : ", \(lane.unit.symbol)"
                let name = series.name.isEmpty ? lane.name : "\(lane.name): \(series.name)"
                page.element("th", ["scope": "col"], text: name + unit)
              }
            }
          }
          page.element("tbody") { page in
            for row in 0..<rows {
              page.newLine()
              page.element("tr") { page in
                page.element("th", ["scope": "row"], text: ReportFigure.time(Double(row) * length))
                for (lane, _, values) in columns {
                  let value = row < values.count ? Self.text(values[row], lane.unit) : nil
                  page.element("td", text: value ?? "")
                }
              }
            }
          }
        }
      }
    }
    page.newLine()
  }

  /// "24.0", or "3.0\u{2026}25.0" where it changed.
  private static func text(_ range: (low: Double, high: Double)?, _ unit: LaneUnit) -> String? {
    guard let range else { return nil }
    let (low, high) = (unit.number(range.low), unit.number(range.high))
    return low == high ? low : "\(low)\u{2026}\(high)"
  }
}
