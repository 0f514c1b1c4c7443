import Media

/// Finds out how fast a sender makes its frames, by its own time stamps, where they came faster than that.
///
/// Who joins is often sent all frames since the last keyframe at once, either with the times at which they were made or squeezed
/// into one moment. They all come, but nobody is shown so many frames a second. What has the times at which it was made lengthens
/// the time that is divided by (``past``); what is squeezed is not counted (``surplus``).
///
/// Frames are counted in slots of half a second of the sender's time. Where a slot has more than one beside it, those are squeezed
/// that are nearer to the one before than at 100 frames a second, as many as there are too many.
struct FrameRateEstimator: Sendable {
  /// What was squeezed: frames and bytes, which are shares of slots and so no whole numbers.
  struct Surplus: Sendable {
    var videoFrames = 0.0
    var bytes = 0.0
  }

  private static let slotLength = 0.5
  /// Frames that are further apart than this are never squeezed.
  private static let wide = 0.01
  /// A step of the sender's clock that is so much longer than the time between arrivals is a jump.
  private static let jump = 10.0
  /// Frames of the past come within so long.
  private static let catchingUp = 2.0

  /// One slot.
  private struct Slot: Sendable {
    var number: Int64
    var videoFrames = 0.0
    var bytes = 0.0
    /// Those that are not near to the one before.
    var wide = 0.0
  }

  private var first: Double?
  private var last: (media: MediaTime, arrived: Double)?
  private var origin: MediaTime?
  private var lead = 0.0
  /// The slot before the newest one, how many frames the one before that had, and the newest one.
  private var before: Double?
  private var settling: Slot?
  private var newest: Slot?
  private var settled = Surplus()
  private var fullest = 0.0
  /// Seconds of frames that were made before the first one came.
  private(set) var past = 0.0

  /// A frame was decoded.
  mutating func videoFrame(_ media: MediaTime, arrived: Double, bytes: Int) {
    var isWide = true
    if let last {
      let step = media.duration(since: last.media).seconds
      let ahead = step - (arrived - last.arrived)
      if step < 0 || ahead > Self.jump {
        beginAnew(at: media)
      } else {
        isWide = step >= Self.wide
        lead += ahead
        if let first, arrived - first <= Self.catchingUp { past = max(past, lead) }
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
    if isWide { newest?.wide += 1 }
  }

  /// What had been squeezed until now.
  var surplus: Surplus {
    var pace = self
    pace.settle()
    return pace.settled
  }

  /// The most frames a second that the sender made in any slot; nil before that can be told.
  var fastest: Double? {
    var pace = self
    pace.settle()
    return pace.fullest > 0 ? pace.fullest / Self.slotLength : nil
  }

  /// The sender's clock jumped: what was before tells nothing of what follows.
  private mutating func beginAnew(at media: MediaTime) {
    settle()
    origin = media
  }

  private mutating func settle() {
    let (one, other) = (settling, newest)
    // The newest slot is not full yet, so that it reports the one before it only where nothing else does.
    if let one { close(one, beside: before, before == nil ? other.map { neighbour(of: one, $0) } : nil) }
    if let other { close(other, beside: one.map { neighbour(of: other, $0) }, nil) }
    settling = nil
    newest = nil
    before = nil
  }

  private mutating func begin(slot number: Int64) {
    let next = Slot(number: number)
    if let one = newest {
      if let earlier = settling { close(earlier, beside: before, neighbour(of: earlier, one)) }
      before = settling.map { neighbour(of: one, $0) }
      settling = one
    }
    newest = next
  }

  /// Frames in the slot beside one: none where it is not the next.
  private func neighbour(of slot: Slot, _ other: Slot) -> Double {
    abs(slot.number - other.number) == 1 ? other.videoFrames : 0
  }

  private mutating func close(_ slot: Slot, beside one: Double?, _ other: Double?) {
    var counted = slot.videoFrames
    // Of a slot that stands alone nobody knows what is usual.
    if let usual = [one, other].compactMap(\.self).min() { counted = min(counted, max(slot.wide, usual + 1)) }
    settled.videoFrames += slot.videoFrames - counted
    settled.bytes += slot.bytes * (1 - counted / slot.videoFrames)
    fullest = max(fullest, counted)
  }
}
