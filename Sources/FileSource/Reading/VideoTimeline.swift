import Media

/// Places VP8 frames, evenly where the file says that they are even.
///
/// A WebM file rounds each frame's time to a millisecond or so: 30 frames a second lie at 0, 33, 67, 100 ms. Where the
/// file tells the time between frames and its times agree with that, the frames are placed by it.
struct VideoTimeline {
  /// How exactly the container tells times.
  let timing: ContainerTiming
  private var last: Int64?

  init(timing: ContainerTiming) {
    self.timing = timing
  }

  /// A frame comes at least one tick of the 90 kHz clock after the one before it: a packet's timestamp is a frame's name.
  static let smallestStep: Int64 = FileTime.units(perTickOf: .video)

  /// Places a frame.
  ///
  /// - Parameter time: the container's word, in units of `FileTime.rate`.
  /// - Returns: its place in units; nil when it would be before the frame before it.
  mutating func position(_ time: Int64) -> Int64? {
    guard let last else {
      self.last = time
      return time
    }
    let start: Int64
    if let interval = timing.interval, abs(last + interval - time) <= timing.rounding {
      start = last + interval
    } else if time >= last + Self.smallestStep {
      start = time
    } else if time >= last - timing.rounding {
      start = last + Self.smallestStep
    } else {
      return nil
    }
    self.last = start
    return start
  }
}
