import Media

/// The frames of the shared source that some phase has yet to be given, and those that a newcomer begins with. Pure.
///
/// Each phase has its own place in the row, and continues frame by frame: none is skipped and none given twice, however late
/// the caller is.
struct StaggeredReplay: Sendable {
  private let stagger: StaggerSchedule
  /// Frames in the source's order; the first of them is number `base`.
  private var frames: [EncodedFrame] = []
  private var base = 0
  /// The number of the frame that comes next in each phase; nil for a phase that nobody is in.
  private var positions: [Int?]

  /// How many frames are kept.
  var count: Int { frames.count }

  /// More frames are not kept for newcomers: who comes then waits for the next keyframe.
  static let maximumKept = 4096

  init(_ stagger: StaggerSchedule) {
    self.stagger = stagger
    positions = Array(repeating: nil, count: stagger.phases)
  }

  /// Takes the source's next frame; its `arrival` says when it is due in the first phase.
  mutating func add(_ frame: EncodedFrame, now: ContinuousClock.Instant) {
    frames.append(frame)
    trim(now: now)
  }

  /// Somebody comes into a phase.
  ///
  /// - Returns: the frames since the last keyframe that the phase has been given: what the newcomer begins with.
  mutating func join(_ phase: Int, now: ContinuousClock.Instant) -> [EncodedFrame] {
    let delay = stagger.delay(of: phase)
    let position = positions[phase] ?? base + (frames.firstIndex { $0.arrival + delay > now } ?? frames.count)
    positions[phase] = position
    let given = frames[..<(position - base)]
    guard let first = given.lastIndex(where: { $0.codec.kind == .video && $0.isKeyframe }) else { return [] }
    return given[first...].filter { $0.codec.kind == .video }.map { delayed($0, by: delay) }
  }

  /// When a phase's next frame is due; nil if there is none.
  func deadline(of phase: Int) -> ContinuousClock.Instant? {
    guard let position = positions[phase], position - base < frames.count else { return nil }
    return frames[position - base].arrival + stagger.delay(of: phase)
  }

  /// The frames that are due in a phase, in order, with `arrival` as it is there.
  mutating func dequeue(_ phase: Int, now: ContinuousClock.Instant) -> [EncodedFrame] {
    guard let position = positions[phase] else { return [] }
    let delay = stagger.delay(of: phase)
    let due = frames[(position - base)...].prefix { $0.arrival + delay <= now }.map { delayed($0, by: delay) }
    positions[phase] = position + due.count
    return due
  }

  private func delayed(_ frame: EncodedFrame, by delay: Duration) -> EncodedFrame {
    var frame = frame
    frame.arrival += delay
    return frame
  }

  /// Forgets what no phase needs any more: all before the keyframe that the last phase shows.
  private mutating func trim(now: ContinuousClock.Instant) {
    guard frames[frames.count - 1].isKeyframe || frames.count > Self.maximumKept else { return }
    let furthest = positions.compactMap(\.self).min() ?? .max
    let shown = frames.lastIndex {
      $0.codec.kind == .video && $0.isKeyframe && $0.arrival + StaggerSchedule.span <= now
    }
    var count = min(shown ?? 0, max(0, furthest - base))
    if frames.count - count > Self.maximumKept { count = min(frames.count - Self.maximumKept, max(0, furthest - base)) }
    frames.removeFirst(count)
    base += count
  }
}
