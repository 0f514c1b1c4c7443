import CallCheck

extension HTMLReport {
  /// The maximum number of readable values of a series, and of rows of the table.
  private static let (mostReadings, mostRows) = (300, 20)

  /// Returns the duration that one readable value of a lane covers, in seconds.
  func bucketStep(_ lane: TimelineLane) -> Double {
    guard let series = lane.series.first else { return 1 }
    return series.step * Double(series.bucketLength(limit: Self.mostReadings))
  }

  /// Returns the values of a lane for the script: one for each bucket of each series, separated by spaces, with `|`
  /// between series; `-` means no value.
  func readings(_ lane: TimelineLane) -> String {
    lane.series.map { series in
      series.sampleAndHold.buckets(limit: Self.mostReadings).map { Self.text($0, lane.unit) ?? "-" }
        .joined(separator: " ")
    }.joined(separator: "|")
  }

  /// Writes the values of the charts as a table.
  func table(_ lanes: [TimelineLane], _ timeline: CheckTimeline, into page: inout Markup) {
    let columns = lanes.flatMap { lane in lane.series.map { (lane, $0, $0.buckets(limit: Self.mostRows)) } }
    guard let rows = columns.map(\.2.count).max(), let first = columns.first?.1 else { return }
    let length = first.step * Double(first.bucketLength(limit: Self.mostRows))
    page.element("details", ["class": "numbers"]) { page in
      page.element("summary", text: "Values as a table")
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
                page.element("th", ["scope": "row"], text: NumberFormatting.time(Double(row) * length))
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

  /// Returns "24.0", or "3.0\u{2026}25.0" if the value changed.
  private static func text(_ range: (low: Double, high: Double)?, _ unit: LaneUnit) -> String? {
    guard let range else { return nil }
    let (low, high) = (unit.number(range.low), unit.number(range.high))
    return low == high ? low : "\(low)\u{2026}\(high)"
  }
}
