/// Finds the presentation times of reordering groups of which frames are missing, for a sender whose timestamps are decoding times and
/// whose frames are evenly spaced.
///
/// The timestamps of a whole group are its presentation times in another order. Where frames are missing, so are timestamps, and those
/// that came are not the presentation times of the frames that came. But the picture order counts say how many frames are shown between
/// two of them:
///
/// ```
///   frame (picture order)   P(6)  B(2)  B(4)
///   timestamp               1     lost  3
///   presentation time       3     lost  2
/// ```
struct EvenFrameTimes: Sendable {
  /// A frame with its picture order count and its time in ticks.
  struct Frame: Sendable, Hashable {
    var count: Int64
    var ticks: Int64
  }

  /// The timestamp of the last frame.
  private var last: Int64?
  /// The distance of the last two frames between which none was missing.
  private var interval: Int64?
  /// How many frames a group has at most, those included that are missing.
  private static let maximumFrames: Int64 = 256
  /// How many frames that are shown later may have been sent before a frame.
  private static let maximumReordering: Int64 = 16
  /// The maximum distance of two frames in ticks: more is no distance of frames, and would not fit into the multiples of it.
  private static let maximumInterval: Int64 = 1 << 32

  /// Adds the timestamp of the next frame in decoding order.
  ///
  /// - Parameter followsLoss: whether frames before it are missing.
  mutating func add(_ ticks: Int64, followsLoss: Bool) {
    if let last, !followsLoss {
      let (distance, isTooLong) = ticks.subtractingReportingOverflow(last)
      if !isTooLong, distance > 0, distance <= Self.maximumInterval { interval = distance }
    }
    last = ticks
  }

  /// Returns the presentation times of a group's frames; nil if frames are not evenly spaced, so that they are not known.
  ///
  /// - Parameters:
  ///   - group: its frames in decoding order, with their timestamps.
  ///   - previous: the frame that is shown last before the group, with its presentation time.
  ///   - next: the timestamp of the next frame, which is after all times of the group; nil if none has come.
  ///   - step: the difference between the counts of two frames that are shown one after the other.
  /// - Returns: Also whether nothing of the group is missing.
  func times(
    of group: [Frame], after previous: Frame, before next: Int64?, step: Int64
  ) -> (times: [Int64], isWhole: Bool)? {
    guard let interval, interval > 0, step > 0, let latest = group.map(\.count).max(),
      let length = Self.steps(from: previous.count, to: latest, step: step), length <= Self.maximumFrames
    else { return nil }
    // The timestamps by their place after the previous frame: which of them came, and to the tick when they are.
    var known: [Int64: Int64] = [:]
    for frame in group {
      let (distance, isTooLong) = frame.ticks.subtractingReportingOverflow(previous.ticks)
      guard !isTooLong, distance > 0, distance / interval <= length + Self.maximumReordering else { return nil }
      let place = (distance + interval / 2) / interval
      guard place >= 1, known[place] == nil, abs(distance - place * interval) <= max(interval / 16, 2) else {
        return nil
      }
      known[place] = frame.ticks
    }
    var times: [Int64] = []
    for frame in group {
      guard let place = Self.steps(from: previous.count, to: frame.count, step: step) else { return nil }
      let (ticks, isTooLate) = previous.ticks.addingReportingOverflow(place * interval)
      if isTooLate { return nil }
      times.append(known[place] ?? ticks)
    }
    guard let last = times.max(), let newest = group.map(\.ticks).max(), next.map({ last < $0 }) ?? (last <= newest),
      Set(times).count == times.count
    else { return nil }
    return (times, Int64(group.count) == length && last == newest)
  }

  /// Returns how many steps a count is above another one; nil if it is not a whole number of them above zero.
  private static func steps(from first: Int64, to count: Int64, step: Int64) -> Int64? {
    let (difference, isTooLarge) = count.subtractingReportingOverflow(first)
    guard !isTooLarge, difference > 0, difference % step == 0 else { return nil }
    return difference / step
  }
}
