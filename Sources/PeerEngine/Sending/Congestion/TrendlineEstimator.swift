/// Estimates whether the delay grows: the slope of the queueing delay over the last groups of packets, compared with a
/// threshold that adapts to the path's own jitter (draft-ietf-rmcat-gcc-02, 5.4; a least squares line instead of the Kalman
/// filter, as in libwebrtc since 2016).
package struct TrendlineEstimator: Sendable {
  /// The state of the path.
  package enum Usage: Sendable, Hashable {
    case normal
    /// A queue builds: more is sent than arrives.
    case over
    /// A queue drains.
    case under
  }

  /// The number of groups for the regression line.
  private static let window = 20
  private static let smoothing = 0.9
  private static let gain = 4.0
  /// The slope is weighted by the number of groups, up to this one.
  private static let fullWeight = 60.0
  /// How fast the threshold follows a slope above it and below it, per millisecond.
  private static let rise = 0.0087
  private static let fall = 0.039
  private static let threshold = 6.0...600.0
  /// The threshold does not adapt to a slope that exceeds it by more than this.
  private static let maximumAdaptOffset = 15.0
  /// How long the path must be overused, in milliseconds, before it is reported.
  private static let overuseTimeThreshold = 10.0

  package private(set) var usage = Usage.normal

  private var points: [(arrival: Double, delay: Double)] = []
  private var changes = 0.0
  private var accumulated = 0.0
  private var smoothed = 0.0
  private var trend = 0.0
  private var threshold = 12.5
  private var lastAdaptation: Double?
  private var overused: Double?
  private var overuses = 0

  package init() {}

  /// Adds the next change.
  package mutating func add(_ change: InterArrivalGroups.Change) {
    changes = min(changes + 1, 1_000)
    accumulated += change.arrived - change.sent
    smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
    points.append((change.arrival, smoothed))
    if points.count > Self.window { points.removeFirst() }
    let earlier = trend
    if points.count == Self.window, let slope = slope { trend = slope }
    detect(change, earlier: earlier)
  }

  /// The least squares slope in milliseconds of delay per millisecond.
  private var slope: Double? {
    let count = Double(points.count)
    let middle = (
      arrival: points.reduce(0) { $0 + $1.arrival } / count, delay: points.reduce(0) { $0 + $1.delay } / count
    )
    var numerator = 0.0
    var denominator = 0.0
    for point in points {
      let distance = point.arrival - middle.arrival
      numerator += distance * (point.delay - middle.delay)
      denominator += distance * distance
    }
    return denominator > 0 ? numerator / denominator : nil
  }

  private mutating func detect(_ change: InterArrivalGroups.Change, earlier: Double) {
    guard changes >= 2 else { return }
    let weighted = min(changes, Self.fullWeight) * trend * Self.gain
    if weighted > threshold {
      overused = overused.map { $0 + change.sent } ?? change.sent / 2
      overuses += 1
      if let time = overused, time > Self.overuseTimeThreshold, overuses > 1, trend >= earlier {
        overused = 0
        overuses = 0
        usage = .over
      }
    } else {
      overused = nil
      overuses = 0
      usage = weighted < -threshold ? .under : .normal
    }
    adapt(to: abs(weighted), at: change.arrival)
  }

  private mutating func adapt(to modifiedTrend: Double, at arrival: Double) {
    defer { lastAdaptation = arrival }
    guard let lastAdaptation, modifiedTrend <= threshold + Self.maximumAdaptOffset else { return }
    let passed = min(max(0, arrival - lastAdaptation), 100)
    let speed = modifiedTrend < threshold ? Self.fall : Self.rise
    let adapted = threshold + speed * (modifiedTrend - threshold) * passed
    threshold = min(max(adapted, Self.threshold.lowerBound), Self.threshold.upperBound)
  }
}
