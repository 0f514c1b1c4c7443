import FileSource

/// A frame rate as a fraction, so that the millionth frame has an exact time.
struct VideoRate: Sendable, Hashable, CustomStringConvertible {
  let videoFrames: Int64
  let seconds: Int64

  /// From one frame a minute to a thousand a second.
  static let limits = "one frame a minute to 1000 a second"

  /// - Returns: nil for a rate outside the limits.
  init?(videoFrames: Int64, seconds: Int64 = 1) {
    guard videoFrames > 0, seconds > 0, videoFrames <= 1 << 31, seconds <= 1 << 31 else { return nil }
    guard videoFrames <= seconds * 1_000, seconds <= videoFrames * 60 else { return nil }
    self.videoFrames = videoFrames
    self.seconds = seconds
  }

  /// Rounds to a thousandth; 29.97, 59.94 and 23.976 become the exact NTSC fractions.
  ///
  /// - Returns: nil for a rate outside the limits.
  init?(_ rate: Double) {
    guard rate.isFinite, rate > 0, rate <= 1_000 else { return nil }
    let whole = rate.rounded(.up)
    let television = whole * 1_000 / 1_001
    if whole > rate, abs(television - rate) < 0.005 {
      self.init(videoFrames: Int64(whole) * 1_000, seconds: 1_001)
    } else {
      self.init(videoFrames: Int64((rate * 1_000).rounded()), seconds: 1_000)
    }
  }

  var perSecond: Double { Double(videoFrames) / Double(seconds) }

  /// Returns the time of a frame, in units of `FileTime.rate`, rounded down.
  func time(of videoFrame: Int64) -> Int64 {
    let (whole, rest) = videoFrame.quotientAndRemainder(dividingBy: videoFrames)
    let unit = seconds * Int64(FileTime.rate)
    // `rest` is below `videoFrames`: 31 bits by 51 can need 82.
    let wide = rest.multipliedFullWidth(by: unit)
    let fraction = videoFrames.dividingFullWidth(wide).quotient
    return whole * unit + fraction
  }

  /// Returns the end of the last of `count` frames, and whether it is beyond the latest time that a file may have.
  func endTime(of count: Int64) -> (end: Int64, isTooLate: Bool) {
    let limit = FileTime.latest
    guard count / videoFrames <= limit / (seconds * Int64(FileTime.rate)) else { return (limit, true) }
    let end = time(of: count)
    return (end, end > limit)
  }

  /// Returns the number of the newest frame at a time.
  func videoFrame(at time: Int64) -> Int64 {
    guard time > 0 else { return 0 }
    let unit = seconds * Int64(FileTime.rate)
    let (whole, rest) = time.quotientAndRemainder(dividingBy: unit)
    var videoFrame = whole * videoFrames + unit.dividingFullWidth(rest.multipliedFullWidth(by: videoFrames)).quotient
    while self.time(of: videoFrame + 1) <= time { videoFrame += 1 }
    return videoFrame
  }

  /// The interval between frames in units, at least one.
  var interval: Int64 { max(1, time(of: 1)) }

  /// For example `30` or `29.97`.
  var description: String {
    let hundredths = (videoFrames * 100 + seconds / 2) / seconds
    if hundredths % 100 == 0 { return "\(hundredths / 100)" }
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}
