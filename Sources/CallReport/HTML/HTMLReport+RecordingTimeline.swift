import CallCheck

extension HTMLReport {
  /// Freezes that are tinted through all lanes at most: the longest.
  private static let maximumShades = 24

  /// The call over time: every row has the same axis, and so has every peer.
  func timeline(_ peer: PeerReport, of party: ReportParty, into page: inout Markup) {
    let lanes = peer.timeline.lanes(results: party.results + (report.results.filter { $0.peer == nil }))
    let bands = report.impairmentBands + peer.bands
    if lanes.isEmpty && bands.isEmpty { return }
    page.element("h3", text: "The call over time")
    page.newLine()
    page.element(
      "div",
      [
        "class": "lanes", "tabindex": "0", "role": "group", "data-duration": ReportFigure.short(axis.duration, 3),
        "aria-label":
          "Timelines of \(party.name), all on one axis; with the arrow keys values can be read, and they are in a table below.",
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
      let shades = Array(
        (peer.video?.freezes.list ?? []).sorted { $0.duration > $1.duration }.prefix(Self.maximumShades))
      for lane in lanes { self.lane(lane, shades: shades, into: &page) }
    }
    let absent = absentBands(peer)
    if !absent.isEmpty {
      page.element("p", ["class": "soft"], text: "There was no \(absent.joined(separator: ", no ")).")
    }
    table(lanes, peer.timeline, into: &page)
  }

  private func absentBands(_ peer: PeerReport) -> [String] {
    var absent: [String] = []
    if let video = peer.video {
      if video.freezes.count == 0 { absent.append("freeze") }
      if video.black.count == 0 { absent.append("black frame") }
      if video.frozen.count == 0 { absent.append("stretch of the same frame") }
    }
    if let audio = peer.audio {
      if audio.silence.count == 0 { absent.append("silence") }
      if audio.clipped.count == 0 { absent.append("clipped audio") }
      if audio.gaps.count == 0 { absent.append("hole in the audio") }
    }
    return absent
  }

  private func row(
    _ look: String, _ name: String, scale: String? = nil, legend: [String] = [], into page: inout Markup,
    plot: (inout Markup) -> Void,
    reading: (inout Markup) -> Void
  ) {
    page.newLine()
    page.element("div", ["class": "lane \(look)"]) { page in
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
        for interval in band.intervals {
          let (start, end) = (axis.fraction(interval.start), axis.fraction(interval.start + interval.duration))
          page.element(
            "rect",
            [
              "class": band.look.rawValue, "x": TimeAxis.percent(start), "y": "4", "height": "10",
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
          "class": "plot", "width": "100%", "height": ReportFigure.short(height), "role": "img",
          "aria-label": lane.summary,
          "data-step": ReportFigure.short(bucketStep(lane), 4), "data-unit": lane.unit.symbol,
          "data-values": readings(lane),
          "data-names": legend.joined(separator: "|"),
        ]
      ) { page in
        grid(lane, height, shades, into: &page)
        page.element(
          "svg",
          [
            "width": "100%", "height": ReportFigure.short(height), "viewBox": "0 0 1000 \(ReportFigure.short(height))",
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
          text: "limit \(ReportFigure.short(limit / lane.unit.divisor, 2)) \(lane.unit.symbol)")
      }
    }
  }

  /// What stands beside a lane while nobody points at it.
  private func rest(_ lane: TimelineLane, _ series: LaneSeries) -> String? {
    if lane.shape == .ticks {
      return lane.series.map { "\(ReportFigure.fixed($0.values.reduce(0) { $0 + ($1 ?? 0) }, 0)) \($0.name)" }
        .joined(separator: ", ")
    }
    return series.median.map { "median \(lane.unit.text($0))" }
  }
}
