/// Detects intervals in which the video does not change, and distinguishes freezes, in which no frames arrive, from
/// static intervals, in which the same frame arrives again and again.
///
/// A frame that looks like the previous one does not end an interval. The interval's kind follows from what fills most
/// of it: gaps between frames, or frames.
struct FreezeDetector: Sendable {
  /// Static intervals shorter than this, in seconds, are not reported.
  static let minimumFrozen = 0.5
  /// A gap is longer than `factor` times the usual frame interval, and longer than it by more than `margin`.
  private static let factor = 3.0
  private static let margin = 0.15
  /// The weight of a new frame interval in the usual one, and the limit up to which a long one counts.
  private static let gain = 0.1
  private static let maximumDistance = 0.5

  private struct FreezeCandidate {
    let start: Double
    var gaps = 0.0
    var longestGap = 0.0
    var reason: FreezeReason?
    var repeats = 0
  }

  private(set) var freezes = IntervalLog()
  private(set) var frozen = IntervalLog(minimumDuration: minimumFrozen)
  private var last: Double?
  private var distance: Double?
  private var candidate: FreezeCandidate?

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
  ///   - reason: the cause of a gap before it; nil if it is not known.
  /// - Returns: a freeze that the frame ended.
  mutating func videoFrame(at time: Double, isSame: Bool, reason: FreezeReason?) -> Freeze? {
    guard let last, var current = candidate else {
      self.last = time
      candidate = FreezeCandidate(start: time)
      return nil
    }
    let gap = max(0, time - last)
    note(gap: gap, reason: reason, in: &current)
    let counted = min(gap, Self.maximumDistance)
    distance = distance.map { $0 + Self.gain * (counted - $0) } ?? counted
    self.last = time
    if isSame {
      current.repeats += 1
      candidate = current
      return nil
    }
    candidate = FreezeCandidate(start: time)
    return settle(current, at: time)
  }

  /// Corrects the reason of a freeze: the sender sent nothing, and the network delayed nothing.
  ///
  /// - Parameters:
  ///   - end: when the first frame after the gap could be seen.
  ///   - duration: for how long the sender sent nothing.
  mutating func senderWasPaused(until end: Double, duration: Double) {
    if let current = candidate, current.start < end - 0.001 {
      if current.reason == .late, duration * 2 >= current.longestGap { candidate?.reason = .senderPaused }
    } else {
      freezes.correctReason(
        from: FreezeReason.late.rawValue, to: FreezeReason.senderPaused.rawValue, end: end, duration: duration)
    }
  }

  /// Accounts for the end of the stream. If frames follow, the first of them ends nothing.
  mutating func end(at time: Double) -> Freeze? {
    guard let last, var current = candidate else { return nil }
    note(gap: max(0, time - last), reason: .untilEnd, in: &current)
    candidate = nil
    return settle(current, at: time)
  }

  private func note(gap: Double, reason: FreezeReason?, in current: inout FreezeCandidate) {
    // The usual interval is unknown for the first two frames.
    let usual = distance ?? 0.1
    guard gap > max(Self.factor * usual, usual + Self.margin) else { return }
    current.gaps += gap
    if gap > current.longestGap {
      current.longestGap = gap
      current.reason = reason
    }
  }

  private mutating func settle(_ current: FreezeCandidate, at time: Double) -> Freeze? {
    let duration = time - current.start
    if current.gaps > 0, current.gaps * 2 >= duration {
      freezes.add(start: current.start, duration: duration, reason: current.reason?.rawValue)
      return Freeze(start: current.start, duration: duration)
    }
    if current.repeats > 0 { frozen.add(start: current.start, duration: duration) }
    return nil
  }
}
