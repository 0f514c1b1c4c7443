package import Bitstream
package import Media
import NIOCore

/// Gives the frames of a track their presentation times, where a sender sends frames in another order than that in which they are shown
/// (B-frames). Frames stay in decoding order.
///
/// There are two kinds of such senders. The timestamps of some are presentation times, which go back; they are right. Those of others
/// are decoding times, which only go forward while the picture order count goes back. There a reordering group, which is a run of
/// frames that are shown after all earlier ones and before all later ones, is held until it is complete, and its timestamps are given
/// to its frames by picture order:
///
/// ```
///   frame (picture order)   I(0)  P(6)  B(2)  B(4)  P(12)  B(8)  B(10)
///   timestamp               0     1     2     3     4      5     6
///   presentation time       0     3     1     2     6      4     5
/// ```
///
/// A group is complete if its picture orders follow each other without a hole, if as many frames that are shown later have arrived as
/// the stream can reorder, or if a sequence begins. It is held for at most ``maximumFrames``, ``maximumBytes`` and ``maximumWait``; a
/// frame that comes after that gets a time between those of its neighbours. Nothing is held of a stream whose parameter sets exclude
/// reordering, nor of one whose picture orders have no holes, nor as soon as a timestamp has gone back with the picture order.
package struct PresentationTimestamper: Sendable {
  /// The maximum number of frames that are held: one with 16 frames that are shown before it, as many as a decoder can hold.
  package static let maximumFrames = 17
  /// The maximum size of the frames that are held, together: 17 frames of 4K at 30 fps and 110 Mb/s.
  package static let maximumBytes = 8 << 20
  /// How long a frame is held at most.
  package static let maximumWait = Duration.seconds(1)
  /// By how much a presentation time may go back; more is a clock that jumped.
  package static let maximumStepBack = Duration.seconds(1)
  /// How many frames are assumed to be reordered if the parameter sets do not tell it.
  private static let assumedReordering = 4
  /// After so many frames in the order of output, a stream whose parameter sets do not tell it is assumed not to reorder.
  private static let calmFrames = 256
  /// How many frames are remembered to place late ones.
  private static let maximumRecent = 32

  /// What the timestamps of a stream that reorders are.
  private enum Timestamps: Sendable {
    case unknown, presentation, decoding
  }

  private struct Waiting: Sendable {
    var frame: EncodedFrame
    var count: Int64
    var since: MonotonicInstant
  }

  /// A frame that was emitted.
  private struct Shown: Sendable {
    var count: Int64
    var ticks: Int64
  }

  private var timestamps = Timestamps.unknown
  private var waiting = CircularBuffer<Waiting>()
  private var ready = CircularBuffer<EncodedFrame>()
  /// The last frames of the sequence that were emitted.
  private var shown = CircularBuffer<Shown>()
  /// The highest picture order of the sequence, and the time that came with it; nil before its first frame.
  private var highest: Shown?
  /// The picture order up to which all frames of the sequence have been emitted.
  private var complete: Int64?
  /// The least difference between the picture orders of two frames of the stream that are shown one after the other; nil until it is
  /// known.
  private var step: Int64?
  /// The number of frames since the last one whose picture order went back.
  private var calm = 0
  /// The latest time of an emitted frame.
  private var newest: MediaTime?
  /// The latest time of the sequences before this one.
  private var sequenceStart: Int64?
  /// The number of frames in a row whose time goes back and whose picture order is not known.
  private var unknownBackwards = 0
  /// The presentation times where frames of a group are missing.
  private var even = EvenFrameTimes()
  /// Whether frames of the sequence are missing.
  private var hasLoss = false

  package init() {}

  /// When ``expire(now:)`` must be called; nil while nothing is held.
  package var deadline: MonotonicInstant? { waiting.first.map { $0.since + Self.maximumWait } }

  /// The size of the frames that are held.
  private var bytesHeld: Int { waiting.reduce(0) { $0 + $1.frame.payload.readableBytes } }

  /// Whether a frame is shown before an earlier one, according to its picture order.
  package func isReordered(_ order: PictureOrder?) -> Bool {
    guard let order, !order.beginsSequence, let highest else { return false }
    return order.count < highest.count
  }

  /// Adds the next frame in decoding order; call ``popFrame()`` until it returns nil.
  ///
  /// - Parameters:
  ///   - frame: its time is that of its RTP timestamp.
  ///   - order: where it is shown; nil if that is not known.
  package mutating func add(_ frame: EncodedFrame, _ order: PictureOrder?, now: MonotonicInstant) {
    guard let order, order.reorderedFrames != 0 else {
      release(waiting.count)
      endSequence()
      return emitUnordered(frame, mayGoBack: order == nil && frame.codec.canReorderFrames)
    }
    if order.beginsSequence || isOtherSequence(order) {
      if frame.gap != nil { hasLoss = true }
      release(waiting.count, next: frame.time.ticks)
      endSequence()
    }
    if let highest, order.count < highest.count {
      classify(frame, after: highest)
      calm = 0
    } else {
      calm += 1
      highest = Shown(count: order.count, ticks: frame.time.ticks)
    }
    if timestamps == .presentation { return emit(frame, order.count) }
    if frame.gap != nil { hasLoss = true }
    even.add(frame.time.ticks, followsLoss: frame.gap != nil)
    if let complete, order.count < complete {
      // Frames stay in decoding order.
      release(waiting.count)
      return emitLate(frame, order.count)
    }
    waiting.append(Waiting(frame: frame, count: order.count, since: now))
    // An IDR picture is shown before all that follow.
    if order.beginsSequence { return release(1) }
    let isDeclared = order.reorderedFrames != nil
    // With two fields to a frame, picture orders usually count by two.
    let step = step ?? (isDeclared ? 1 : 2)
    while let count = completeGroup(limit: reordering(order), step: step) { release(count) }
    if waiting.count > Self.maximumFrames || bytesHeld > Self.maximumBytes { release(waiting.count) }
  }

  /// Removes and returns the next frame that has its presentation time.
  package mutating func popFrame() -> EncodedFrame? { ready.popFirst() }

  /// Emits what has been held for too long.
  package mutating func expire(now: MonotonicInstant) {
    if let deadline, deadline <= now { release(waiting.count) }
  }

  /// Emits all frames: no more of the source follow, or those of another one.
  package mutating func finish() {
    release(waiting.count)
    endSequence()
    (timestamps, step, calm, newest, sequenceStart, unknownBackwards) = (.unknown, nil, 0, nil, nil, 0)
    even = EvenFrameTimes()
  }

  /// Whether a frame without a known beginning of a sequence belongs to another one: no decoder could hold as many frames as are
  /// shown after it.
  private func isOtherSequence(_ order: PictureOrder) -> Bool {
    var later = 0
    for frame in shown where frame.count > order.count { later += 1 }
    for frame in waiting where frame.count > order.count { later += 1 }
    return later >= Self.maximumFrames
  }

  private mutating func endSequence() {
    shown.removeAll(keepingCapacity: true)
    (highest, complete, hasLoss) = (nil, nil, false)
    sequenceStart = newest?.ticks
  }

  /// Finds out what the timestamps are, from a frame that is shown before an earlier one.
  private mutating func classify(_ frame: EncodedFrame, after highest: Shown) {
    let back = MediaTime(ticks: highest.ticks &- frame.time.ticks, rate: frame.time.rate).duration
    if back > Self.maximumStepBack { return }
    let found = back > .zero ? Timestamps.presentation : .decoding
    if found == .presentation, timestamps != .presentation {
      while let first = waiting.popFirst() { emit(first.frame, first.count) }
    }
    timestamps = found
  }

  /// The maximum number of frames that precede any frame in decoding and follow it in output.
  private func reordering(_ order: PictureOrder) -> Int {
    if let declared = order.reorderedFrames { return max(0, declared) }
    return calm > Self.calmFrames ? 0 : Self.assumedReordering
  }
}

/// Groups.
extension PresentationTimestamper {
  /// Returns the number of the first waiting frames that are shown before all later ones; nil if there are none yet.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of frames that precede one in decoding and follow it in output.
  ///   - step: the difference between two picture orders that can have no frame between them.
  private func completeGroup(limit: Int, step: Int64) -> Int? {
    let counts = waiting.map(\.count)
    var highest = Int64.min
    for index in counts.indices {
      highest = max(highest, counts[index])
      guard counts[(index + 1)...].allSatisfy({ $0 > highest }) else { continue }
      let later = counts.count { $0 >= highest }
      if later > limit || isContiguous(counts[...index], step: step) { return index + 1 }
    }
    return nil
  }

  /// Whether no frame can be shown between those that were emitted and some others, nor between these.
  private func isContiguous(_ counts: ArraySlice<Int64>, step: Int64) -> Bool {
    guard var last = complete else { return false }
    for count in counts.sorted() {
      let difference = count.subtractingReportingOverflow(last)
      if difference.overflow || difference.partialValue > step { return false }
      last = count
    }
    return true
  }

  /// Emits the first waiting frames: their timestamps, in order, are given to them by picture order. Where frames of the group are
  /// missing, the picture orders say which timestamps are missing.
  ///
  /// - Parameter next: the timestamp of the frame behind those that wait; nil if none has come.
  private mutating func release(_ count: Int, next: Int64? = nil) {
    if count <= 0 { return }
    let group = waiting.prefix(count)
    let exact = timesWithLosses(count, next: next)
    learnStep(group.map(\.count))
    let times = group.map(\.frame.time.ticks).sorted()
    // The ranks of the frames by picture order.
    let byOrder = group.enumerated().sorted { ($0.element.count, $0.offset) < ($1.element.count, $1.offset) }
    var ranks = Array(repeating: 0, count: count)
    for (rank, item) in byOrder.enumerated() { ranks[item.offset] = rank }
    for (index, rank) in ranks.enumerated() {
      var first = waiting.removeFirst()
      first.frame.time.ticks = exact?[index] ?? times[rank]
      complete = max(complete ?? first.count, first.count)
      emit(first.frame, first.count)
    }
  }

  /// Returns the presentation times of the first waiting frames if frames of the sequence are missing; nil if none are, or if the times
  /// cannot be known.
  private func timesWithLosses(_ count: Int, next: Int64?) -> [Int64]? {
    guard hasLoss, timestamps == .decoding, let step, let complete, let newest else { return nil }
    let next = waiting.dropFirst(count).first?.frame.time.ticks ?? next
    return even.times(
      of: waiting.prefix(count).map { .init(count: $0.count, ticks: $0.frame.time.ticks) },
      after: .init(count: complete, ticks: newest.ticks), before: next, step: step)
  }

  private mutating func learnStep(_ counts: [Int64]) {
    var last = complete
    for count in counts.sorted() {
      if let last { learnStep(from: last, to: count) }
      last = count
    }
  }

  private mutating func learnStep(from last: Int64, to count: Int64) {
    let difference = count.subtractingReportingOverflow(last)
    guard !difference.overflow, difference.partialValue > 0 else { return }
    step = min(step ?? difference.partialValue, difference.partialValue)
  }

  private mutating func emit(_ frame: EncodedFrame, _ count: Int64) {
    var frame = frame
    if let newest, frame.time.ticks < newest.ticks, newest.duration(since: frame.time) <= Self.maximumStepBack,
      isBelow(count)
    {
      frame.isReordered = true
    } else {
      newest = frame.time
    }
    if shown.count == Self.maximumRecent { shown.removeFirst() }
    shown.append(Shown(count: count, ticks: frame.time.ticks))
    ready.append(frame)
  }

  /// Whether an emitted frame of the sequence is shown after one.
  private func isBelow(_ count: Int64) -> Bool {
    for frame in shown where frame.count > count { return true }
    return false
  }

  /// Emits a frame that belongs before some that were emitted, between which it gets a time.
  private mutating func emitLate(_ frame: EncodedFrame, _ count: Int64) {
    var frame = frame
    var (before, after): (Int64?, Int64?) = (sequenceStart, nil)
    for other in shown {
      if other.count < count {
        before = max(before ?? other.ticks, other.ticks)
        learnStep(from: other.count, to: count)
      } else if other.count > count {
        after = min(after ?? other.ticks, other.ticks)
        learnStep(from: count, to: other.count)
      }
    }
    if let after {
      // At most 1/15 s before the next one, if what precedes it is further away or not known.
      let lower = max(before ?? .min, after &- Int64(frame.time.rate) / 15)
      let distance = after &- lower
      if distance > 1 { frame.time.ticks = lower &+ distance / 2 }
    }
    emit(frame, count)
  }

  /// Emits a frame without a picture order.
  ///
  /// - Parameter mayGoBack: whether its time goes back by the sender's intent, if it does and nothing is missing.
  private mutating func emitUnordered(_ frame: EncodedFrame, mayGoBack: Bool) {
    var frame = frame
    if mayGoBack, let newest, newest.rate == frame.time.rate, frame.time.ticks < newest.ticks,
      newest.duration(since: frame.time) <= Self.maximumStepBack, frame.gap?.packetsLost ?? 0 == 0,
      unknownBackwards < Self.maximumFrames - 1
    {
      unknownBackwards += 1
      frame.isReordered = true
    } else {
      unknownBackwards = 0
      newest = frame.time
    }
    ready.append(frame)
  }
}
