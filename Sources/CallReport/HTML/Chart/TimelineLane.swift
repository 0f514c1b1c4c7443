import CallCheck

/// One row of a peer's timeline: one or two measurements over the time of the check.
struct TimelineLane {
  enum Shape {
    /// A line with a tinted area below it.
    case area
    /// Lines, the second of them dashed.
    case lines
    /// A tick for each event.
    case ticks
  }

  var name: String
  var shape: Shape
  var unit: LaneUnit
  var series: [LaneSeries]
  /// The values at the lower and the upper edge.
  var low: Double
  var high: Double
  /// The limits of rules, in the unit of the values.
  var limits: [Double] = []
  /// The measurements whose rules this lane illustrates.
  var measurements: [String] = []

  /// Creates a lane from 0 to a round number above all values and limits, and below 0 if there are negative values.
  ///
  /// - Parameters:
  ///   - results: results whose limits may belong to this lane.
  ///   - least: the minimum value of the upper edge, so that noise does not look like an event.
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
      result.limit.number?.isFinite == true
        && measurements.contains { result.measurement == $0 || result.measurement.hasPrefix($0 + ".") }
    }.compactMap(\.limit.number).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    let highest = self.series.compactMap(\.high).max() ?? 0
    let lowest = self.series.compactMap(\.low).min() ?? 0
    let size = max(highest, symmetric ? -lowest : 0, least)
    // A limit far above all values would flatten the line.
    let near = limits.filter { $0 <= max(size, unit.divisor) * 4 }.max() ?? 0
    high = unit.ceiling(max(size, near))
    low = symmetric ? -high : lowest < 0 ? -unit.ceiling(-lowest) : 0
  }

  var isEmpty: Bool { series.isEmpty }

  /// Returns the height of a value between the edges, 0 (lowest) to 1.
  func height(_ value: Double) -> Double {
    guard high > low else { return 0 }
    return min(1, max(0, (value - low) / (high - low)))
  }

  /// The range of the lane, for example "0 to 30 fps".
  var scale: String {
    let unit = unit.symbol.isEmpty ? "" : " " + self.unit.symbol
    func number(_ value: Double) -> String { NumberFormatting.short(value / self.unit.divisor, 2) }
    return low == -high ? "\u{B1} \(number(high))\(unit)" : "\(number(low)) to \(number(high))\(unit)"
  }

  /// A description of the lane for screen readers.
  var summary: String {
    let parts = series.compactMap { series -> String? in
      guard let low = series.low, let high = series.high, let median = series.median else { return nil }
      let name = series.name.isEmpty ? "" : series.name + ": "
      if shape == .ticks { return "\(name)\(NumberFormatting.fixed(series.values.reduce(0) { $0 + ($1 ?? 0) }, 0))" }
      return "\(name)median \(unit.text(median)), lowest \(unit.text(low)), highest \(unit.text(high))"
    }
    return "\(name). \(parts.joined(separator: "; "))."
  }
}

extension CheckTimeline {
  /// The duration in seconds.
  package var length: Double { Double(max(fps.count, videoBitrate.count, audioBitrate.count, level.count)) * step }

  /// Returns the lanes of a peer's call, from top to bottom; measurements without values are left out.
  ///
  /// - Parameter results: the peer's results, for the limits.
  func lanes(results: [RuleResult]) -> [TimelineLane] {
    func series(_ values: [Double?], _ name: String = "") -> LaneSeries {
      LaneSeries(name: name, step: step, values: values)
    }
    func highest(_ values: [Double?]...) -> Double { values.joined().compactMap { $0.map { abs($0) } }.max() ?? 0 }

    var level = TimelineLane(
      "Audio level", unit: .level, measurements: ["audio.level"], [series(self.level)], results: results)
    (level.low, level.high) = (-60, 0)
    let lanes = [
      TimelineLane(
        "Frame rate", unit: .fps, measurements: ["video.fps"], [series(fps)], results: results),
      TimelineLane(
        "Video bitrate", unit: .bitrate(upTo: highest(videoBitrate)), measurements: ["video.bitrate"],
        [series(videoBitrate)], results: results),
      TimelineLane(
        "Loss", unit: .percent, measurements: ["loss", "video.loss", "audio.loss"], [series(loss)], results: results,
        least: 0.05),
      TimelineLane(
        "Keyframes", .ticks, unit: .count, [series(keyframeRequests, "requested"), series(keyframes, "received")]),
      level,
      TimelineLane(
        "Audio bitrate", unit: .bitrate(upTo: highest(audioBitrate)), measurements: ["audio.bitrate"],
        [series(audioBitrate)], results: results),
      TimelineLane(
        "Audio/video skew", .lines, unit: .seconds(upTo: highest(skew)), measurements: ["av.skew"],
        [series(skew)],
        results: results, least: 0.05, symmetric: true),
      TimelineLane(
        "Delay", .lines, unit: .seconds(upTo: highest(videoDelay, audioDelay)),
        measurements: ["latency", "video.latency", "audio.latency"],
        [series(videoDelay, "video"), series(audioDelay, "audio")], results: results, least: 0.1),
      TimelineLane(
        "Sent to this peer", .lines, unit: .bitrate(upTo: highest(sentBitrate, targetBitrate)),
        measurements: ["sent.bitrate"],
        [series(sentBitrate, "sent"), series(targetBitrate, "target")], results: results),
    ]
    // A keyframe lane with zeros only is useless.
    return lanes.filter { lane in
      !lane.isEmpty && (lane.shape != .ticks || lane.series.contains { ($0.high ?? 0) > 0 })
    }
  }
}

/// The unit of a lane's values.
struct LaneUnit {
  var symbol: String
  /// The divisor from the measurement's unit to this unit.
  var divisor: Double
  var decimals: Int

  static let fps = LaneUnit(symbol: "fps", divisor: 1, decimals: 1)
  static let percent = LaneUnit(symbol: "%", divisor: 0.01, decimals: 1)
  static let level = LaneUnit(symbol: "dB", divisor: 1, decimals: 0)
  static let count = LaneUnit(symbol: "", divisor: 1, decimals: 0)

  /// Returns the unit that suits the highest value.
  static func bitrate(upTo high: Double) -> LaneUnit {
    high < 1e6
      ? LaneUnit(symbol: "kbit/s", divisor: 1e3, decimals: high < 1e4 ? 1 : 0)
      : LaneUnit(symbol: "Mbit/s", divisor: 1e6, decimals: high < 1e7 ? 2 : 1)
  }

  static func seconds(upTo high: Double) -> LaneUnit {
    high < 2
      ? LaneUnit(symbol: "ms", divisor: 1e-3, decimals: 0)
      : LaneUnit(symbol: "s", divisor: 1, decimals: high < 20 ? 2 : 0)
  }

  func number(_ value: Double) -> String { NumberFormatting.fixed(value / divisor, decimals) }

  func text(_ value: Double) -> String { symbol.isEmpty ? number(value) : "\(number(value)) \(symbol)" }

  /// Returns the smallest round number in this unit that is not below a value.
  func ceiling(_ value: Double) -> Double {
    let scaled = value / divisor
    guard scaled > 0, scaled < 1e12 else { return divisor }
    var power = 1.0
    while power < scaled { power *= 10 }
    while power > scaled { power /= 10 }
    let factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].first { $0 * power >= scaled * 0.999_999 } ?? 10
    return factor * power * divisor
  }
}

/// The time axis of all charts of a report: from the check's start to its end.
struct TimeAxis {
  /// The duration in seconds, above 0.
  let duration: Double

  init(duration: Double) {
    self.duration = duration.isFinite && duration > 0.01 ? duration : 1
  }

  /// Returns a position on the axis, 0 to 1.
  func fraction(_ time: Double) -> Double {
    guard time.isFinite else { return 0 }
    return min(1, max(0, time / duration))
  }

  /// Returns a position on the axis as an SVG length.
  func percent(_ time: Double) -> String { Self.percent(fraction(time)) }

  static func percent(_ fraction: Double) -> String { NumberFormatting.short(fraction * 100, 2) + "%" }

  /// At most nine round times for labels, starting at 0.
  var ticks: [Double] {
    let steps: [Double] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200]
    let step = steps.first { duration / $0 <= 8 } ?? (duration / 8).rounded(.up)
    return (0...8).map { Double($0) * step }.filter { $0 <= duration }
  }
}
