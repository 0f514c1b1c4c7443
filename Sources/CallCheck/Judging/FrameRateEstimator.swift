import Media

/// Estimates the sender's frame rate from its own timestamps when frames arrive faster than they were produced.
///
/// A peer that joins is often sent all frames since the last keyframe at once, either with their original timestamps or
/// squeezed into one moment. All of them arrive, but no viewer sees so many frames a second. Frames with their original
/// timestamps extend the time that the count is divided by (``preJoinDuration``); squeezed frames are not counted
/// (``surplus``).
///
/// Frames are counted in slots of half a second of the sender's time. If a slot has more frames than a neighbouring
/// one, the excess is removed from its frames that follow the previous one by less than 10 ms (more than 100 frames a
/// second).
struct FrameRateEstimator: Sendable {
  /// Squeezed frames and bytes. They are shares of slots and therefore not whole numbers.
  struct Surplus: Sendable {
    var videoFrames = 0.0
    var bytes = 0.0
  }

  private static let slotLength = 0.5
  /// Frames further apart than this, in seconds, are never squeezed.
  private static let minimumInterval = 0.01
  /// The sender's clock jumped if its step exceeds the time between arrivals by this many seconds.
  private static let jump = 10.0
  /// Older frames arrive within this many seconds of the first one.
  private static let catchingUp = 2.0

  /// The counts of one slot.
  private struct Slot: Sendable {
    var number: Int64
    var videoFrames = 0.0
    var bytes = 0.0
    /// The frames that are not close to the previous one.
    var unsqueezed = 0.0
  }

  private var first: Double?
  private var last: (media: MediaTime, arrived: Double)?
  private var origin: MediaTime?
  private var lead = 0.0
  /// ``preJoinDuration`` of the time before the stream ended, if it did.
  private var earlierDuration = 0.0
  /// The frame count of the slot before the last two, the slot before the newest one, and the newest one.
  private var before: Double?
  private var previousSlot: Slot?
  private var newest: Slot?
  private var settled = Surplus()
  private var fullest = 0.0
  /// Seconds of video that was produced before the first frame arrived.
  private(set) var preJoinDuration = 0.0

  /// Counts a decoded frame.
  mutating func videoFrame(_ media: MediaTime, arrived: Double, bytes: Int) {
    var isUnsqueezed = true
    if let last {
      let step = media.duration(since: last.media).seconds
      let ahead = step - (arrived - last.arrived)
      if step < 0 || ahead > Self.jump {
        beginAnew(at: media)
      } else {
        isUnsqueezed = step >= Self.minimumInterval
        lead += ahead
        if let first, arrived - first <= Self.catchingUp {
          preJoinDuration = max(preJoinDuration, earlierDuration + lead)
        }
      }
    } else {
      first = arrived
      origin = media
    }
    last = (media, arrived)
    let time = media.duration(since: origin ?? media).seconds
    let number = Int64((min(time, 1e9) / Self.slotLength).rounded(.down))
    if newest.map({ $0.number != number }) ?? true { begin(slot: number) }
    newest?.videoFrames += 1
    newest?.bytes += Double(bytes)
    if isUnsqueezed { newest?.unsqueezed += 1 }
  }

  /// Accounts for the end of the stream. If frames follow, they may begin with older ones again.
  mutating func end() {
    settle()
    (first, last, origin) = (nil, nil, nil)
    lead = 0
    earlierDuration = preJoinDuration
  }

  /// The squeezed frames so far.
  var surplus: Surplus {
    var estimator = self
    estimator.settle()
    return estimator.settled
  }

  /// The sender's highest frame rate in any slot; nil before it is known.
  var fastest: Double? {
    var estimator = self
    estimator.settle()
    return estimator.fullest > 0 ? estimator.fullest / Self.slotLength : nil
  }

  /// Starts again after a jump of the sender's clock, because earlier slots say nothing about later ones.
  private mutating func beginAnew(at media: MediaTime) {
    settle()
    origin = media
  }

  private mutating func settle() {
    let (one, other) = (previousSlot, newest)
    // The newest slot is not complete, so it limits the slot before it only if no other neighbour does.
    if let one { close(one, beside: before, before == nil ? other.map { neighbour(of: one, $0) } : nil) }
    if let other { close(other, beside: one.map { neighbour(of: other, $0) }, nil) }
    previousSlot = nil
    newest = nil
    before = nil
  }

  private mutating func begin(slot number: Int64) {
    let next = Slot(number: number)
    if let one = newest {
      if let earlier = previousSlot { close(earlier, beside: before, neighbour(of: earlier, one)) }
      before = previousSlot.map { neighbour(of: one, $0) }
      previousSlot = one
    }
    newest = next
  }

  /// Returns the frame count of a neighbouring slot, or 0 if it is not adjacent.
  private func neighbour(of slot: Slot, _ other: Slot) -> Double {
    abs(slot.number - other.number) == 1 ? other.videoFrames : 0
  }

  private mutating func close(_ slot: Slot, beside one: Double?, _ other: Double?) {
    var counted = slot.videoFrames
    // A slot without neighbours has no usual count to compare with.
    if let usual = [one, other].compactMap(\.self).min() { counted = min(counted, max(slot.unsqueezed, usual + 1)) }
    settled.videoFrames += slot.videoFrames - counted
    settled.bytes += slot.bytes * (1 - counted / slot.videoFrames)
    fullest = max(fullest, counted)
  }
}
