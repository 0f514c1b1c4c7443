import FileSource

/// A frame rate as a fraction, so that the millionth frame has an exact time.
package struct VideoRate: Sendable, Hashable, CustomStringConvertible {
  package let frames: Int64
  package let seconds: Int64

  /// From one frame a minute to a thousand a second.
  static let limits = "one frame a minute to 1000 a second"

  /// - Returns: nil for a rate outside the limits.
  package init?(frames: Int64, seconds: Int64 = 1) {
    guard frames > 0, seconds > 0, frames <= 1 << 31, seconds <= 1 << 31 else { return nil }
    guard frames <= seconds * 1_000, seconds <= frames * 60 else { return nil }
    self.frames = frames
    self.seconds = seconds
  }

  /// Rounds to a thousandth; 29.97, 59.94 and 23.976 become the exact NTSC fractions.
  ///
  /// - Returns: nil for a rate outside the limits.
  package init?(_ rate: Double) {
    guard rate.isFinite, rate > 0, rate <= 1_000 else { return nil }
    let whole = rate.rounded(.up)
    let ntscRate = whole * 1_000 / 1_001
    if whole > rate, abs(ntscRate - rate) < 0.005 {
      self.init(frames: Int64(whole) * 1_000, seconds: 1_001)
    } else {
      self.init(frames: Int64((rate * 1_000).rounded()), seconds: 1_000)
    }
  }

  var perSecond: Double { Double(frames) / Double(seconds) }

  /// Returns the time of a frame, in units of `MediaTimebase.rate`, rounded down.
  func time(of number: Int64) -> Int64 {
    let (whole, rest) = number.quotientAndRemainder(dividingBy: frames)
    let unit = seconds * Int64(MediaTimebase.rate)
    // `rest` is below `frames`: 31 bits by 51 can need 82.
    let wide = rest.multipliedFullWidth(by: unit)
    let fraction = frames.dividingFullWidth(wide).quotient
    return whole * unit + fraction
  }

  /// Returns the end of the last of `count` frames, and whether it is beyond the latest time that a file may have.
  func endTime(of count: Int64) -> (end: Int64, isTooLate: Bool) {
    let limit = MediaTimebase.latest
    guard count / frames <= limit / (seconds * Int64(MediaTimebase.rate)) else { return (limit, true) }
    let end = time(of: count)
    return (end, end > limit)
  }

  /// Returns the number of the newest frame at a time.
  func frameNumber(at time: Int64) -> Int64 {
    guard time > 0 else { return 0 }
    let unit = seconds * Int64(MediaTimebase.rate)
    let (whole, rest) = time.quotientAndRemainder(dividingBy: unit)
    var number = whole * frames + unit.dividingFullWidth(rest.multipliedFullWidth(by: frames)).quotient
    while self.time(of: number + 1) <= time { number += 1 }
    return number
  }

  /// The interval between frames in units, at least one.
  var interval: Int64 { max(1, time(of: 1)) }

  /// For example `30` or `29.97`.
  package var description: String {
    let hundredths = (frames * 100 + seconds / 2) / seconds
    if hundredths % 100 == 0 { return "\(hundredths / 100)" }
    let fraction = hundredths % 100
    return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
  }
}
