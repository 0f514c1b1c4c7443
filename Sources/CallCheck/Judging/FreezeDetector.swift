/// Finds the stretches in which nothing new was to be seen, and tells those in which no frames came from those in which the
/// same frame came again and again.
///
/// A frame that shows the same as the one before does not end a stretch. What a stretch is called follows from what fills
/// most of it: holes between frames, or frames.
struct FreezeDetector: Sendable {
  /// Frames that show the same for less than this are not told of.
  static let shortestFrozen = 0.5
  /// A hole is longer than `factor` usual distances, and longer than one by `margin`.
  private static let factor = 3.0
  private static let margin = 0.15
  /// The share of a new distance in the usual one, and what of a long one counts.
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

  /// A stretch that was found to be a freeze.
  struct Freeze: Sendable {
    let start: Double
    let duration: Double
  }

  /// A frame came.
  ///
  /// - Parameters:
  ///   - time: when it could be seen.
  ///   - isSame: whether it shows the same as the one before.
  ///   - reason: what a hole before it would come from.
  /// - Returns: a freeze that it ended.
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

  /// The peer's media has ended.
  mutating func end(at time: Double) -> Freeze? {
    guard let last, var still = stillness else { return nil }
    note(hole: max(0, time - last), reason: .untilEnd, in: &still)
    stillness = nil
    return settle(still, at: time)
  }

  private func note(hole: Double, reason: FreezeReason, in still: inout Stillness) {
    // Of the first two frames nobody knows what is usual.
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
