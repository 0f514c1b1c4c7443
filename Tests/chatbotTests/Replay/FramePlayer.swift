import Media

/// A pattern that is being played in a call.
struct FramePlayer {
  private let pattern: EncodedPattern
  private let start: ContinuousClock.Instant
  private let last: Duration
  private var position = 0
  /// The frames sent so far.
  private(set) var played: [EncodedFrame] = []

  /// - Parameter length: The duration of the pattern to play.
  init(_ pattern: EncodedPattern, at start: ContinuousClock.Instant, length: Duration) {
    self.pattern = pattern
    self.start = start
    last = length
  }

  /// When the next frame is due, or nil if there is none.
  var deadline: ContinuousClock.Instant? {
    guard pattern.frames.indices.contains(position), pattern.frames[position].due < last else { return nil }
    return start + pattern.frames[position].due
  }

  /// Returns the next frame if one is due.
  mutating func next(now: ContinuousClock.Instant) -> EncodedFrame? {
    guard let deadline, deadline <= now else { return nil }
    var frame = pattern.frames[position].frame
    frame.arrival = deadline
    position += 1
    played.append(frame)
    return frame
  }
}
