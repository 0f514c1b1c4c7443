import CallCheck

extension HTMLReport {
  /// The maximum number of freezes that are shaded across all lanes: the longest ones.
  private static let maximumShades = 24

  /// The rows of one stream.
  private struct StreamRows {
    var bands: [TimelineBands]
    var lanes: [TimelineLane]
    /// The longest freezes.
    var shades: [Interval]
  }

  private func rows(of stream: PeerReport, _ peer: PeerReport, results: [RuleResult]) -> StreamRows {
    let number = stream.streamNumber
    var rows = StreamRows(
      bands: stream.bands, lanes: stream.timeline.lanes(results: results.filter { ($0.stream ?? 1) == number }),
      shades: Array(
        (stream.video?.freezes.list ?? []).sorted { $0.duration > $1.duration }.prefix(Self.maximumShades)))
    guard number > 1 else { return rows }
    let prefix = Self.heading(peer.title(ofStream: number)) + ": "
    for index in rows.bands.indices { rows.bands[index].name = prefix + rows.bands[index].name }
    for index in rows.lanes.indices { rows.lanes[index].name = prefix + rows.lanes[index].name }
    return rows
  }

  /// Writes the call over time: all rows of all streams and all peers have the same axis.
  func timeline(_ peer: PeerReport, of section: ReportSection, into page: inout Markup) {
    let results = section.results + report.results.filter { $0.peer == nil }
    let streams = peer.allStreams.map { rows(of: $0, peer, results: results) }
    let lanes = streams.flatMap(\.lanes)
    let bands = report.impairmentBands + streams.flatMap(\.bands)
    if lanes.isEmpty && bands.isEmpty { return }
    page.element("h3", text: "The call over time")
    page.newLine()
    page.element(
      "div",
      [
        "class": "lanes", "tabindex": "0", "role": "group", "data-duration": NumberFormatting.short(axis.duration, 3),
        "aria-label":
          "Timelines of \(section.name) on one axis. Use the arrow keys to read values; a table below lists them.",
      ]
    ) { page in
      row("axis", "", into: &page) { page in
        page.element("svg", ["class": "plot axis", "width": "100%", "height": "18", "aria-hidden": "true"]) {
          ticks(baseline: "13", into: &$0)
        }
      } reading: {
        $0.element("output", ["class": "time"], text: "")
      }
      for band in bands { self.band(band, into: &page) }
      for stream in streams {
        for lane in stream.lanes { self.lane(lane, shades: stream.shades, into: &page) }
      }
    }
    for stream in peer.allStreams {
      let absent = absentBands(stream)
      if absent.isEmpty { continue }
      let number = stream.streamNumber
      let subject = number > 1 ? "In \(peer.title(ofStream: number)), there was" : "There was"
      page.element("p", ["class": "soft"], text: "\(subject) no \(absent.joined(separator: ", no ")).")
    }
    table(lanes, peer.timeline, into: &page)
  }

  private func absentBands(_ peer: PeerReport) -> [String] {
    var absent: [String] = []
    if let video = peer.video {
      if video.freezes.count == 0 { absent.append("freeze") }
      if video.black.count == 0 { absent.append("black frame") }
      if video.frozen.count == 0 { absent.append("static interval") }
    }
    if let audio = peer.audio {
      if audio.silence.count == 0 { absent.append("silence") }
      if audio.clipped.count == 0 { absent.append("clipped audio") }
      if audio.gaps.count == 0 { absent.append("audio gap") }
    }
    return absent
  }

  private func row(
    _ style: String, _ name: String, scale: String? = nil, legend: [String] = [], into page: inout Markup,
    plot: (inout Markup) -> Void,
    reading: (inout Markup) -> Void
  ) {
    page.newLine()
    page.element("div", ["class": "lane \(style)"]) { page in
      page.element("div", ["class": "name"]) { page in
        page.element("span", text: name)
        if let scale { page.element("small", text: scale) }
        for (index, entry) in legend.enumerated() {
          page.element("small", ["class": "legend series-\(index)"], text: entry)
        }
      }
      page.element("div", ["class": "drawing"]) { plot(&$0) }
      page.element("div", ["class": "reading"]) { reading(&$0) }
    }
  }

  private func band(_ band: TimelineBands, into page: inout Markup) {
    let axis = axis
    row("band", band.name, into: &page) { page in
      page.element(
        "svg",
        [
          "class": "plot", "width": "100%", "height": "18", "role": "img",
          "aria-label": "\(band.name): \(band.summary)",
        ]
      ) { page in
        page.empty("line", ["class": "grid", "x1": "0", "x2": "100%", "y1": "9", "y2": "9"])
        for interval in band.intervals where interval.duration == 0 {
          page.element(
            "circle", ["class": band.style.rawValue, "cx": axis.percent(interval.start), "cy": "9", "r": "4"]
          ) {
            $0.element("title", text: interval.text)
          }
        }
        for interval in band.intervals where interval.duration > 0 {
          let (start, end) = (axis.fraction(interval.start), axis.fraction(interval.start + interval.duration))
          page.element(
            "rect",
            [
              "class": band.style.rawValue, "x": TimeAxis.percent(start), "y": "4", "height": "10",
              "width": TimeAxis.percent(end - start), "rx": "1.5",
            ]
          ) { $0.element("title", text: interval.text) }
        }
      }
    } reading: {
      $0.element("small", text: band.summary)
    }
  }

  private func lane(_ lane: TimelineLane, shades: [Interval], into page: inout Markup) {
    let height = lane.shape == .ticks ? 30.0 : 52.0
    let legend = lane.series.map(\.name).filter { !$0.isEmpty }
    row(
      lane.shape == .ticks ? "measured ticks" : "measured", lane.name, scale: lane.shape == .ticks ? nil : lane.scale,
      legend: legend, into: &page
    ) { page in
      page.element(
        "svg",
        [
          "class": "plot", "width": "100%", "height": NumberFormatting.short(height), "role": "img",
          "aria-label": lane.summary,
          "data-step": NumberFormatting.short(bucketStep(lane), 4), "data-unit": lane.unit.symbol,
          "data-values": readings(lane),
          "data-names": legend.joined(separator: "|"),
        ]
      ) { page in
        grid(lane, height, shades, into: &page)
        page.element(
          "svg",
          [
            "width": "100%", "height": NumberFormatting.short(height),
            "viewBox": "0 0 1000 \(NumberFormatting.short(height))",
            "preserveAspectRatio": "none",
          ]
        ) { page in
          for (index, series) in lane.series.enumerated() { curve(series, index, lane, height, into: &page) }
        }
      }
    } reading: { page in
      page.element("output", text: lane.series.first.flatMap { rest(lane, $0) } ?? "")
      for limit in lane.limits.prefix(2) {
        page.element(
          "small", ["class": "limit"],
          text: "limit \(NumberFormatting.short(limit / lane.unit.divisor, 2)) \(lane.unit.symbol)")
      }
    }
  }

  /// Returns the text beside a lane while the pointer is elsewhere.
  private func rest(_ lane: TimelineLane, _ series: LaneSeries) -> String? {
    if lane.shape == .ticks {
      return lane.series.map { "\(NumberFormatting.fixed($0.values.reduce(0) { $0 + ($1 ?? 0) }, 0)) \($0.name)" }
        .joined(separator: ", ")
    }
    return series.median.map { "median \(lane.unit.text($0))" }
  }
}

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
      let position = NumberFormatting.short(y(value, lane, height), 1)
      page.empty("line", ["class": "floor", "x1": "0", "x2": "100%", "y1": position, "y2": position])
    }
    for limit in lane.limits.flatMap({ lane.low < 0 && $0 > 0 ? [$0, -$0] : [$0] })
    where limit >= lane.low && limit <= lane.high {
      let position = NumberFormatting.short(y(limit, lane, height), 1)
      page.element("line", ["class": "limit", "x1": "0", "x2": "100%", "y1": position, "y2": position]) {
        $0.element("title", text: "The limit of a rule: \(lane.unit.text(limit))")
      }
    }
  }

  func curve(
    _ series: LaneSeries, _ index: Int, _ lane: TimelineLane, _ height: Double, into page: inout Markup
  ) {
    func x(_ time: Double) -> String { NumberFormatting.short(axis.fraction(time) * 1000, 1) }
    if lane.shape == .ticks {
      let top = index == 0 ? "2" : NumberFormatting.short(height / 2 + 1)
      let marks = series.pieces.joined().filter { $0.value > 0 }.map {
        "M\(x($0.time)) \(top)v\(NumberFormatting.short(height / 2 - 3))"
      }
      if !marks.isEmpty { page.empty("path", ["class": "tick series-\(index)", "d": marks.joined()]) }
      return
    }
    let floor = NumberFormatting.short(height - 1)
    var line = ""
    var area = ""
    for piece in series.pieces {
      guard let first = piece.first, let last = piece.last else { continue }
      let points = piece.map { "\(x($0.time)) \(NumberFormatting.short(y($0.value, lane, height), 1))" }.joined(
        separator: "L")
      // A line of zero length with round ends is a dot.
      line += "M\(points)" + (piece.count == 1 ? "h0" : "")
      area += "M\(x(first.time)) \(floor)L\(points)L\(x(last.time)) \(floor)z"
    }
    if lane.shape == .area { page.empty("path", ["class": "area", "d": area]) }
    page.empty("path", ["class": "line series-\(index)", "d": line])
  }

  /// Returns the vertical position of a value, measured from the top, with room for the line's own width.
  private func y(_ value: Double, _ lane: TimelineLane, _ height: Double) -> Double {
    1 + (1 - lane.height(value)) * (height - 2)
  }
}
