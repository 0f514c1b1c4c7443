import Media

/// What decoding one participant's frames may cost, so that no participant's frames make those of others wait.
///
/// Counted in pixels, because that is what libvpx's time goes by, whatever few bytes a frame has: 3 to 4 ns each. A change of
/// size costs as much again, because libvpx allocates its buffers again. Counted and not measured, so that the same call is always verified
/// in the same way.
struct VerificationBudget: Sendable {
  /// In the long run: a little more than 1920x1080 at 30 frames a second.
  static let pixelsPerSecond = 70_000_000
  /// At once, after a pause.
  static let burst = 2 * pixelsPerSecond

  /// What a frame of any size costs besides.
  static let pixelsPerVideoFrame = 20_000.0

  private var left = Double(burst)
  private var last: MonotonicInstant?
  private var size: VideoSize?

  /// Takes what a frame costs, if there is as much.
  mutating func spend(on size: VideoSize, now: MonotonicInstant) -> Bool {
    if let last, now > last {
      left = min(Double(Self.burst), left + (now - last).seconds * Double(Self.pixelsPerSecond))
    }
    last = max(last ?? now, now)
    let pixels = Double(size.width) * Double(size.height) + Self.pixelsPerVideoFrame
    let cost = self.size == size ? pixels : 2 * pixels
    guard cost <= left else { return false }
    left -= cost
    self.size = size
    return true
  }
}
