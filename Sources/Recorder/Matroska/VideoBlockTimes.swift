import NIOCore

/// The times of a file's video blocks in milliseconds, in decoding order: where its last frame ends.
struct VideoBlockTimes: Sendable {
  private static let maximumFrames = 32
  /// After so many frames in the order of output, a track does not reorder any more.
  private static let calmFrames = 64

  /// The latest time; nil before the first frame.
  private(set) var newest: Int64?
  /// How long the last frame is assumed to last: as long as one before it, since its own duration is unknown.
  private(set) var frameLength: Int64
  /// The end of the last frame.
  private(set) var end: Int64 = 0
  /// The end of the frames before the latest one.
  private var endBefore: Int64 = 0
  private var recent = CircularBuffer<Int64>()
  private var reorders = false
  private var calm = 0

  /// - Parameter frameLength: how long the first frame is assumed to last.
  init(frameLength: Int64 = 33) {
    self.frameLength = frameLength
  }

  /// Whether a frame has a time.
  func contains(_ time: Int64) -> Bool { newest == time || recent.contains(time) }

  /// Adds the next frame in decoding order.
  ///
  /// - Parameter mayReorder: whether others may be shown before it.
  mutating func add(_ time: Int64, mayReorder: Bool) {
    let limit = MatroskaWriter.maximumClusterDuration
    if mayReorder, let newest, time < newest {
      (reorders, calm) = (true, 0)
      if let least = recent.lazy.map({ abs($0 - time) }).filter({ $0 > 0 }).min() { frameLength = min(least, limit) }
      end = max(endBefore, newest + frameLength)
    } else {
      calm += 1
      if calm > Self.calmFrames { reorders = false }
      if let newest, !reorders { frameLength = min(max(1, time - newest), limit) }
      endBefore = end
      newest = time
      end = max(end, time + frameLength)
    }
    guard mayReorder else { return }
    if recent.count == Self.maximumFrames { recent.removeFirst() }
    recent.append(time)
  }
}
