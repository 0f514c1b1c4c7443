import NIOCore

/// Tracks which frames of a file are on the disk, according to the number of bytes that are.
struct WrittenFrameTracker: Sendable {
  /// For each write: the offset of its end, and the frames and playing time of the file up to there.
  private var writes = CircularBuffer<(end: Int64, mark: WrittenFrameCounts, duration: Duration)>()
  /// The frames and playing time that were on the disk at the last check.
  private var settled = (mark: WrittenFrameCounts(), duration: Duration.zero)
  /// The counts of all frames so far.
  private(set) var newest = WrittenFrameCounts()
  /// The counts of all frames except the newest.
  private var previous = WrittenFrameCounts()

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - start: its start on the participant's timeline.
  ///   - length: how long it is shown or heard.
  mutating func add(isKeyframe: Bool = false, at start: Duration, length: Duration) {
    previous = newest
    newest.add(isKeyframe: isKeyframe, start: start, end: start + length)
  }

  /// Records queued writes that contain all frames so far.
  ///
  /// - Parameters:
  ///   - isNewestKept: whether the newest frame is not in them.
  ///   - duration: the playing time of the file with them.
  ///   - size: the number of bytes of the file that are on the disk.
  mutating func put(_ writes: [FileWrite], isNewestKept: Bool, duration: Duration, size: Int64) {
    put(writes, holding: isNewestKept ? previous : newest, duration: duration, size: size)
  }

  /// Records queued writes.
  ///
  /// - Parameters:
  ///   - mark: the frames that are in the file with them.
  ///   - duration: the playing time of the file with them.
  ///   - size: the number of bytes of the file that are on the disk.
  mutating func put(_ writes: [FileWrite], holding mark: WrittenFrameCounts, duration: Duration, size: Int64) {
    while let first = self.writes.first, first.end <= size {
      settled = (first.mark, first.duration)
      self.writes.removeFirst()
    }
    let before = self.writes.last.map { ($0.mark, $0.duration) } ?? settled
    guard let last = writes.last, mark.frames > before.0.frames || duration > before.1 else { return }
    self.writes.append((last.offset + Int64(last.bytes.readableBytes), mark, duration))
  }

  /// Returns the frames that are on the disk when `size` bytes of the file are.
  func stored(size: Int64) -> WrittenFrameCounts { writes.last { $0.end <= size }?.mark ?? settled.mark }

  /// Returns the playing time of the first `size` bytes of the file.
  func duration(size: Int64) -> Duration { writes.last { $0.end <= size }?.duration ?? settled.duration }

  /// Returns how many frames are missing when `size` bytes of the file are on the disk.
  func missing(size: Int64) -> UInt64 { newest.frames - stored(size: size).frames }
}
