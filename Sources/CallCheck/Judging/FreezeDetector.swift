/// Detects intervals in which the video does not change, and distinguishes freezes, in which no frames arrive, from
/// static intervals, in which the same frame arrives again and again.
///
/// A frame that looks like the previous one does not end an interval. The interval's kind follows from what fills most
/// of it: gaps between frames, or frames.
struct FreezeDetector: Sendable {
  /// Static intervals shorter than this, in seconds, are not reported.
  static let shortestFrozen = 0.5
  /// A gap is longer than `factor` times the usual frame interval, and longer than it by more than `margin`.
  private static let factor = 3.0
  private static let margin = 0.15
  /// The weight of a new frame interval in the usual one, and the limit up to which a long one counts.
  private static let gain = 0.1
  private static let maximumDistance = 0.5

  private struct Stillness {
    let start: Double
    var holes = 0.0
    var maximumHole = 0.0
    var reason = FreezeReason.senderPaused
    var repeats = 0
  }

  private(set) var freezes = IntervalLog()
  private(set) var frozen = IntervalLog(shortest: shortestFrozen)
  private var last: Double?
  private var distance: Double?
  private var stillness: Stillness?

  /// An interval that was a freeze.
  struct Freeze: Sendable {
    let start: Double
    let duration: Double
  }

  /// Processes a frame.
  ///
  /// - Parameters:
  ///   - time: when it could be seen.
  ///   - isSame: whether it looks like the previous one.
  ///   - reason: the cause of a gap before it.
  /// - Returns: a freeze that the frame ended.
  mutating func videoFrame(at time: Double, isSame: Bool, reason: FreezeReason) -> Freeze? {
    guard let last, var still = stillness else {
      self.last = time
      stillness = Stillness(start: time)
      return nil
    }
    let hole = max(0, time - last)
    note(hole: hole, reason: reason, in: &still)
    let counted = min(hole, Self.maximumDistance)
    distance = distance.map { $0 + Self.gain * (counted - $0) } ?? counted
    self.last = time
    if isSame {
      still.repeats += 1
      stillness = still
      return nil
    }
    stillness = Stillness(start: time)
    return settle(still, at: time)
  }

  /// Accounts for the end of the peer's media.
  mutating func end(at time: Double) -> Freeze? {
    guard let last, var still = stillness else { return nil }
    note(hole: max(0, time - last), reason: .untilEnd, in: &still)
    stillness = nil
    return settle(still, at: time)
  }

  private func note(hole: Double, reason: FreezeReason, in still: inout Stillness) {
    // The usual interval is unknown for the first two frames.
    let usual = distance ?? 0.1
    guard hole > max(Self.factor * usual, usual + Self.margin) else { return }
    still.holes += hole
    if hole > still.maximumHole {
      still.maximumHole = hole
      still.reason = reason
    }
  }

  private mutating func settle(_ still: Stillness, at time: Double) -> Freeze? {
    let duration = time - still.start
    if still.holes > 0, still.holes * 2 >= duration {
      freezes.add(start: still.start, duration: duration, reason: still.reason.rawValue)
      return Freeze(start: still.start, duration: duration)
    }
    if still.repeats > 0 { frozen.add(start: still.start, duration: duration) }
    return nil
  }
}
