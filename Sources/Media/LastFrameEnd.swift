import NIOCore

/// Where the last frame of a video track ends that is stored in decoding order, from the times at which its frames are shown.
///
/// Files do not state how long a frame is shown: until the next one. The last one is assumed to be shown as long as the one before it.
package struct LastFrameEnd: Sendable {
  private static let maximumFrames = 32
  /// After so many frames in the order of output, a track does not reorder any more.
  private static let calmFrames = 64

  /// The latest time; nil before the first frame.
  package private(set) var newest: Int64?
  /// How long the last frame is assumed to be shown.
  package private(set) var length: Int64
  /// The end of the last frame.
  package private(set) var end: Int64 = 0
  private let maximum: Int64
  /// The end of the frames before the latest one.
  private var endBefore: Int64 = 0
  private var recent = CircularBuffer<Int64>()
  private var reorders = false
  private var calm = 0

  /// - Parameters:
  ///   - length: how long the first frame is assumed to be shown, in any unit.
  ///   - maximum: the maximum of such a time.
  package init(length: Int64, maximum: Int64 = .max) {
    self.length = length
    self.maximum = maximum
  }

  /// Whether a recent frame has a time.
  package func contains(_ time: Int64) -> Bool { newest == time || recent.contains(time) }

  /// Adds the next frame in decoding order.
  ///
  /// - Parameters:
  ///   - length: how long it is shown, if the file says so.
  ///   - mayReorder: whether others may be shown before it.
  package mutating func add(_ time: Int64, length stated: Int64? = nil, mayReorder: Bool) {
    if mayReorder, let newest, time < newest {
      (reorders, calm) = (true, 0)
      let least = recent.lazy.map { abs($0 - time) }.filter { $0 > 0 }.min()
      if let known = stated ?? least { length = min(known, maximum) }
      end = max(endBefore, newest + length)
    } else {
      calm += 1
      if calm > Self.calmFrames { reorders = false }
      if let stated {
        length = stated
      } else if let newest, !reorders {
        length = min(max(1, time - newest), maximum)
      }
      endBefore = end
      newest = time
      end = max(end, time + length)
    }
    guard mayReorder else { return }
    if recent.count == Self.maximumFrames { recent.removeFirst() }
    recent.append(time)
  }
}
