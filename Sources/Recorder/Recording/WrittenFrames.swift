/// The frames of a track that are in files: all up to one of them.
struct WrittenFrames: Sendable, Hashable {
  var frames: UInt64 = 0
  var keyframes: UInt64 = 0
  /// Where the first of them begins and the last one ends, on the participant's time line.
  var start = Duration.zero
  var end = Duration.zero

  /// Takes in the next frame.
  mutating func add(isKeyframe: Bool, start: Duration, end: Duration) {
    add(WrittenFrames(frames: 1, keyframes: isKeyframe ? 1 : 0, start: start, end: end))
  }

  /// Takes in the frames of another file of the same track.
  mutating func add(_ other: WrittenFrames) {
    if other.frames == 0 { return }
    start = frames > 0 ? min(start, other.start) : other.start
    end = frames > 0 ? max(end, other.end) : other.end
    frames += other.frames
    keyframes += other.keyframes
  }
}
