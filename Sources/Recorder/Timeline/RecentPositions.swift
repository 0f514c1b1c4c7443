import Media
import NIOCore

/// The last frames of a track, between which a frame is placed that is shown before some of them.
///
/// Frames are placed by a rule that may change from one to the next, as when a clock's base changes or video is moved. A frame that
/// comes later in decoding order than it is shown must still be placed after those before it and before those after it.
struct RecentPositions: Sendable {
  /// A decoder holds at most 16 frames that are shown later, so a frame lies between some of as many.
  private static let maximumFrames = 32

  private struct Point: Sendable {
    var time: Duration
    var position: Duration
  }

  /// In decoding order.
  private var points = CircularBuffer<Point>()

  /// Adds the next frame in decoding order.
  ///
  /// - Parameter time: on the timeline that orders the frames.
  mutating func add(_ time: Duration, at position: Duration) {
    if points.count == Self.maximumFrames { points.removeFirst() }
    points.append(Point(time: time, position: position))
  }

  /// Moves the last frames later.
  mutating func move(_ frames: Int, by distance: Duration) {
    for index in points.indices.suffix(max(0, frames)) { points[index].position += distance }
  }

  mutating func removeAll() { points.removeAll(keepingCapacity: true) }

  /// Returns the position of a frame that is shown before one of the others; nil if it is not.
  ///
  /// - Parameters:
  ///   - time: on the timeline that orders the frames.
  ///   - candidate: the position to take if those of the neighbours follow from the same rule; else, and for nil, it is one in
  ///     proportion to the times.
  func position(at time: Duration, candidate: Duration?) -> Duration? {
    var before: Point?
    var after: Point?
    for point in points {
      if point.time < time {
        if before.map({ $0.time < point.time }) ?? true { before = point }
      } else if point.time > time {
        if after.map({ $0.time > point.time }) ?? true { after = point }
      }
    }
    guard let after else { return nil }
    guard let before else { return min(candidate ?? .max, after.position - (after.time - time)) }
    if let candidate, (candidate - before.position).isAlmost(time - before.time),
      (after.position - candidate).isAlmost(after.time - time)
    {
      return candidate
    }
    let share = (time - before.time) / (after.time - before.time)
    return before.position + max(.zero, after.position - before.position) * share
  }
}

extension Duration {
  /// More than any position.
  fileprivate static let max = Duration.seconds(Int64.max / 2)

  /// Whether two differences of positions are the same but for rounding.
  fileprivate func isAlmost(_ other: Duration) -> Bool {
    self - other < .microseconds(2) && other - self < .microseconds(2)
  }
}

/// How long the frames of a video track are shown, according to the frames so far: as long as the one before them.
struct FrameSpacing: Sendable {
  private static let maximum = Duration.seconds(1)
  /// After so many frames in the order of output, a track does not reorder any more.
  private static let calmFrames = 64

  /// The time that a frame is shown.
  private(set) var duration = Duration.milliseconds(33)
  /// How much later than the frame that came before it in output a frame can be in decoding order, because frames between them
  /// follow: zero in a track that does not reorder.
  private(set) var reordering = Duration.zero
  private var last: Duration?
  private var recent = CircularBuffer<Duration>()
  private var calm = 0

  /// Adds the next frame in decoding order.
  ///
  /// - Parameters:
  ///   - isReordered: whether it is shown before an earlier one.
  ///   - mayReorder: whether others may be shown before it.
  ///   - isContinuous: whether nothing is missing between it and the frame before.
  private mutating func add(_ position: Duration, isReordered: Bool, mayReorder: Bool, isContinuous: Bool) {
    if isReordered {
      calm = 0
      if let last { reordering = max(reordering, min(last - position, Self.maximum)) }
      let distances = recent.lazy.map { $0 > position ? $0 - position : position - $0 }
      if let least = distances.filter({ $0 > .zero }).min() { duration = min(least, Self.maximum) }
    } else {
      calm += 1
      if calm > Self.calmFrames { reordering = .zero }
      if let last, isContinuous, reordering == .zero { duration = min(position - last, Self.maximum) }
      last = position
    }
    if !mayReorder { return }
    if recent.count == 32 { recent.removeFirst() }
    recent.append(position)
  }

  /// Adds the next frame in decoding order.
  mutating func add(_ timestamped: TimestampedFrame) {
    add(
      timestamped.position, isReordered: timestamped.frame.isReordered,
      mayReorder: timestamped.frame.codec.canReorderFrames,
      isContinuous: timestamped.frame.gap == nil && timestamped.standstill == .zero && timestamped.pause == nil)
  }

  /// Returns the position of the frame that is shown before one; nil if it is not known.
  func position(before position: Duration) -> Duration? { recent.lazy.filter { $0 < position }.max() }
}
