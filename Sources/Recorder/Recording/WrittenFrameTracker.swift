import NIOCore

/// Which frames of a file are on the disk, by how much of the file is.
struct WrittenFrameTracker: Sendable {
  /// Up to which frame a write goes, how long the file plays with it, and where it ends in the file.
  private var writes = CircularBuffer<(end: Int64, mark: WrittenFrameCounts, duration: Duration)>()
  /// What was on the disk when somebody last looked.
  private var settled = (mark: WrittenFrameCounts(), duration: Duration.zero)
  /// All that came.
  private(set) var newest = WrittenFrameCounts()
  /// The newest but for one frame.
  private var previous = WrittenFrameCounts()

  /// A frame came.
  ///
  /// - Parameters:
  ///   - start: where it begins on the participant's time line.
  ///   - length: for how long it is shown or heard.
  mutating func add(isKeyframe: Bool = false, at start: Duration, length: Duration) {
    previous = newest
    newest.add(isKeyframe: isKeyframe, start: start, end: start + length)
  }

  /// Writes went into line that hold all frames so far.
  ///
  /// - Parameters:
  ///   - isNewestKept: whether the frame that came last is in none of them.
  ///   - duration: how long the file plays with them.
  ///   - size: how much of the file is on the disk.
  mutating func put(_ writes: [FileWrite], isNewestKept: Bool, duration: Duration, size: Int64) {
    put(writes, holding: isNewestKept ? previous : newest, duration: duration, size: size)
  }

  /// Writes went into line.
  ///
  /// - Parameters:
  ///   - mark: the frames that are in the file with them.
  ///   - duration: how long the file plays with them.
  ///   - size: how much of the file is on the disk.
  mutating func put(_ writes: [FileWrite], holding mark: WrittenFrameCounts, duration: Duration, size: Int64) {
    while let first = self.writes.first, first.end <= size {
      settled = (first.mark, first.duration)
      self.writes.removeFirst()
    }
    let before = self.writes.last.map { ($0.mark, $0.duration) } ?? settled
    guard let last = writes.last, mark.frames > before.0.frames || duration > before.1 else { return }
    self.writes.append((last.offset + Int64(last.bytes.readableBytes), mark, duration))
  }

  /// The frames that are on the disk while so much of the file is.
  func stored(size: Int64) -> WrittenFrameCounts { writes.last { $0.end <= size }?.mark ?? settled.mark }

  /// How long so much of the file plays.
  func duration(size: Int64) -> Duration { writes.last { $0.end <= size }?.duration ?? settled.duration }

  /// How many frames are missing while so much of the file is on the disk.
  func missing(size: Int64) -> UInt64 { newest.frames - stored(size: size).frames }
}
