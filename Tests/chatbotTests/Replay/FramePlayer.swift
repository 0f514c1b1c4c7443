import Media

/// A pattern that is being played in a call.
struct FramePlayer {
  private let pattern: EncodedPattern
  private let start: MonotonicInstant
  private let last: Duration
  private var position = 0
  /// The frames sent so far.
  private(set) var played: [EncodedFrame] = []

  /// - Parameter length: The duration of the pattern to play.
  init(_ pattern: EncodedPattern, at start: MonotonicInstant, length: Duration) {
    self.pattern = pattern
    self.start = start
    last = length
  }

  /// When the next frame is due, or nil if there is none.
  var deadline: MonotonicInstant? {
    guard pattern.frames.indices.contains(position), pattern.frames[position].due < last else { return nil }
    return start + pattern.frames[position].due
  }

  /// Returns the next frame if one is due.
  mutating func next(now: MonotonicInstant) -> EncodedFrame? {
    guard let deadline, deadline <= now else { return nil }
    var frame = pattern.frames[position].frame
    frame.arrived = deadline
    position += 1
    played.append(frame)
    return frame
  }
}
