/// Decides whether a track's media clock is usable, from the steps between its frames.
///
/// A clock is wrong when most of its steps are impossible (audio that would overlap, frames less than 4 ms apart, time
/// that stops or goes back), or when it runs steadily at another speed than the arrivals. Delay alone never makes a
/// clock wrong: neither jitter, nor frames that arrive seconds late in a burst, nor a network queue that fills up
/// slowly have that pattern. Steps are judged in windows of at least 10 frames and half a second.
struct ClockValidator: Sendable {
  /// The differences between a frame and the previous one.
  struct Step: Sendable {
    /// The difference according to the media clock.
    var media: Duration
    /// The difference of the arrival times.
    var arrival: Duration
    /// The playing time of the previous audio packet; nil for video.
    var length: Duration?
    /// Whether no packet between the two was lost.
    var follows: Bool
    /// Whether the media time did not fit the earlier ones.
    var isOutlier: Bool
  }

  enum Result: Sendable, Hashable {
    case undecided
    case wrong
    /// For 5 s the clock has run at the speed of the arrivals.
    case right
  }

  static let fewestFrames = 10
  static let minimumWindow = Duration.milliseconds(500)
  /// A sequence of frames closer than this was not captured by a camera: more than 250 frames a second.
  static let minimumFrameDuration = Duration.milliseconds(4)
  /// How far the clock must be behind or ahead of the arrivals before its speed alone is evidence against it. A network
  /// queue that fills up can slow the arrivals down, but packets hardly ever arrive faster than they were sent.
  static let lateEnough = Duration.seconds(2)
  static let earlyEnough = Duration.seconds(1)
  /// How long a clock must be right to be trusted again, and its maximum error in that time.
  static let recoveryObservation = Duration.seconds(5)
  static let recoveryMaximumError = Duration.milliseconds(150)

  private struct Window: Sendable {
    var frames = 0
    var outliers = 0
    var impossible = 0
    var alike = 0
    var ratio: Double?
    var media = Duration.zero
    var arrival = Duration.zero
    var length = Duration.zero
    var maximumPause = Duration.zero
  }

  private var window = Window()
  /// The speeds of the last regular windows.
  private var speeds: [Double] = []
  private var goodMedia = Duration.zero
  private var goodArrival = Duration.zero

  /// Whether the few frames so far look like those of a wrong clock, so that it is better to wait for more.
  var isSuspicious: Bool { window.frames >= 3 && looksWrong }

  /// Adds the next step.
  ///
  /// - Parameter surprise: how far the media clock is ahead of the arrivals; negative when it is behind.
  mutating func take(_ step: Step, surprise: Duration) -> Result {
    window.frames += 1
    window.media += step.media
    window.arrival += step.arrival
    if step.arrival > window.maximumPause { window.maximumPause = step.arrival }
    if step.isOutlier { window.outliers += 1 }
    if let length = step.length {
      window.length += length
      if step.media < length * 0.95 { window.impossible += 1 }
      compare(step, with: length)
    } else if step.media < Self.minimumFrameDuration {
      window.impossible += 1
    }
    let isLong = window.arrival >= Self.minimumWindow || window.length >= Self.minimumWindow
    guard window.frames >= Self.fewestFrames, isLong else { return .undecided }
    defer { window = Window() }
    return judge(surprise: surprise)
  }

  /// Resets all evidence against the clock.
  mutating func reset() { self = ClockValidator() }

  private mutating func compare(_ step: Step, with length: Duration) {
    guard step.follows, length > .zero else { return }
    let ratio = step.media / length
    guard let first = window.ratio else {
      window.ratio = ratio
      window.alike = 1
      return
    }
    if abs(ratio - first) < 0.02 * first { window.alike += 1 }
  }

  private var looksWrong: Bool {
    window.outliers * 3 >= window.frames || window.impossible * 5 >= window.frames * 4 || isFastAudio
  }

  /// Whether packets have consecutive numbers and arrive without a pause, but the clock always shows the same pause
  /// between them.
  private var isFastAudio: Bool {
    guard let ratio = window.ratio, ratio > 1.05, window.alike * 5 >= window.frames * 4 else { return false }
    let excess = window.length - window.arrival
    let error = excess < .zero ? .zero - excess : excess
    return error < window.length * 0.2
  }

  private mutating func judge(surprise: Duration) -> Result {
    if looksWrong { return wrong() }
    if window.maximumPause <= .milliseconds(300), window.outliers == 0, window.arrival > .milliseconds(100) {
      if speeds.count == 6 { speeds.removeFirst() }
      speeds.append(window.media / window.arrival)
    } else {
      speeds = []
    }
    let isSteadilyLate = speeds.count == 6 && isSteady(speeds[...]) && surprise < .zero - Self.lateEnough
    let isSteadilyEarly = speeds.count >= 2 && isSteady(speeds.suffix(2)) && surprise > Self.earlyEnough
    if isSteadilyLate || isSteadilyEarly { return wrong() }
    return probe()
  }

  private mutating func wrong() -> Result {
    goodMedia = .zero
    goodArrival = .zero
    speeds = []
    return .wrong
  }

  /// Whether the clock ran at a constant but wrong speed.
  private func isSteady(_ speeds: ArraySlice<Double>) -> Bool {
    let mean = speeds.reduce(0, +) / Double(max(1, speeds.count))
    return abs(mean - 1) > 0.15 && speeds.allSatisfy { abs($0 - mean) < 0.1 * mean }
  }

  private mutating func probe() -> Result {
    if window.outliers > 0 || window.impossible > 0 {
      goodMedia = .zero
      goodArrival = .zero
      return .undecided
    }
    goodMedia += window.media
    goodArrival += window.arrival
    guard goodArrival >= Self.recoveryObservation else { return .undecided }
    let excess = goodMedia - goodArrival
    goodMedia = .zero
    goodArrival = .zero
    return excess <= Self.recoveryMaximumError && excess >= .zero - Self.recoveryMaximumError ? .right : .undecided
  }
}
