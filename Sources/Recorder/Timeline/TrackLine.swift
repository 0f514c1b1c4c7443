import Media

/// One track's own line of time: seconds since its first frame, by the sender's media clock.
///
/// The media clock is believed as long as it goes roughly as the arrivals do. Where it jumps away from them by more than
/// `tolerance`, or runs at another speed until it is that far off, the line goes on from the arrivals instead: no
/// timestamp can make a recording much longer or shorter than the call was. A slow drift, as between two quartz clocks,
/// is followed and never counts as a jump.
struct TrackLine: Sendable {
  /// How far media time and arrivals may part: more than any delay that a recovered packet can have.
  static let tolerance = Duration.seconds(5)
  /// How much faster or slower than ours a sender's clock may run for ever: 1,000 ppm.
  static let largestDrift = 0.001

  private struct Anchor: Sendable {
    var time: MediaTime
    var position: Duration
  }

  private var start: ContinuousClock.Instant?
  private var anchor: Anchor?
  /// How far the line has run ahead of the arrivals since the start, slowly followed.
  private var drift = Duration.zero
  private var lastArrival: ContinuousClock.Instant?
  /// The position of the last frame.
  private(set) var position = Duration.zero
  /// How often the line had to go on from the arrivals.
  private(set) var breaks = 0

  /// Whether a frame has come.
  var hasStarted: Bool { start != nil }

  /// The line's position of the next frame in decoding order; never before that of the frame before it.
  mutating func place(_ time: MediaTime, arrival: ContinuousClock.Instant) -> Duration {
    guard let start, let anchor, let lastArrival else {
      self.start = arrival
      self.lastArrival = arrival
      self.anchor = Anchor(time: time, position: .zero)
      return .zero
    }
    let elapsed = arrival - start
    let candidate = anchor.position + time.duration(since: anchor.time)
    let surprise = candidate - elapsed - drift
    if surprise > Self.tolerance || surprise < .zero - Self.tolerance {
      position = max(position, elapsed + drift)
      self.anchor = Anchor(time: time, position: position)
      breaks += 1
    } else {
      let step = max(.zero, arrival - lastArrival) * Self.largestDrift
      drift += min(max(surprise, .zero - step), step)
      position = max(position, candidate)
    }
    self.lastArrival = max(lastArrival, arrival)
    return position
  }

  /// The line's position of a sender report's media time; nil before the first frame and for a report that does not
  /// belong to the line as it runs now.
  func position(of report: ClockReport) -> Duration? {
    guard let start, let anchor else { return nil }
    let candidate = anchor.position + report.time.duration(since: anchor.time)
    let surprise = candidate - (report.arrival - start) - drift
    return surprise > Self.tolerance || surprise < .zero - Self.tolerance ? nil : candidate
  }
}
