internal import FileSource

/// How many frames a composition has in a second, as a fraction: 30/1, 30000/1001.
///
/// Frame `k` is at `k * MediaTimebase.rate * denominator / numerator`, rounded down.
package struct FrameRate: Sendable, Hashable {
  package let numerator: Int64
  package let denominator: Int64

  package static let standard = FrameRate(numerator: 30, denominator: 1)

  package init(numerator: Int64, denominator: Int64) {
    self.numerator = max(1, numerator)
    self.denominator = max(1, denominator)
  }
}

extension FrameRate {
  /// The time of a frame in units of `MediaTimebase.rate`, clamped to 64 bits; 0 for a negative number.
  package func time(ofFrame frame: Int64) -> Int64 {
    Self.scaled(max(0, frame), by: Int64(MediaTimebase.rate), denominator, dividedBy: numerator, isRoundedUp: false)
  }

  /// The number of the first frame that is not earlier than a time; 0 for a negative time.
  package func firstFrame(at time: Int64) -> Int64 {
    Self.scaled(max(0, time), by: numerator, 1, dividedBy: Int64(MediaTimebase.rate), denominator, isRoundedUp: true)
  }

  /// The number of the last frame that is not later than a time; 0 for a negative time.
  package func lastFrame(at time: Int64) -> Int64 {
    let first = firstFrame(at: time)
    return first > 0 && self.time(ofFrame: first) > time ? first - 1 : first
  }

  /// `value * one * other / (divisor * further)`, clamped to 64 bits. No value is negative.
  private static func scaled(
    _ value: Int64, by one: Int64, _ other: Int64 = 1, dividedBy divisor: Int64, _ further: Int64 = 1,
    isRoundedUp: Bool
  ) -> Int64 {
    let (factor, isTooLarge) = one.multipliedReportingOverflow(by: other)
    let (quotient, isTooSmall) = divisor.multipliedReportingOverflow(by: further)
    guard !isTooLarge, !isTooSmall else { return .max }
    let product = value.multipliedFullWidth(by: factor)
    // Otherwise the result has more than 63 bits.
    guard product.high < quotient / 2 || (product.high == 0 && product.low <= UInt64(Int64.max)) else { return .max }
    let (whole, rest) = quotient.dividingFullWidth(product)
    return isRoundedUp && rest > 0 ? whole &+ 1 : whole
  }
}
