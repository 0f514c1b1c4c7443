package import Media

/// The frames of the shared source that some phase has yet to send, and those that a new publisher starts with. Pure.
///
/// Each phase has its own position and advances frame by frame: no frame is skipped or repeated, however late the caller
/// is.
package struct StaggeredReplay: Sendable {
  private let stagger: StaggerSchedule
  /// Frames in the source's order; the first one has the number `base`.
  private var frames: [EncodedFrame] = []
  private var base = 0
  /// The number of the next frame of each phase; nil for a phase without publishers.
  private var positions: [Int?]

  /// The number of frames kept.
  package var count: Int { frames.count }

  /// The maximum number of frames kept for new publishers; beyond it, they wait for the next keyframe.
  package static let maximumKept = 4096

  package init(_ stagger: StaggerSchedule) {
    self.stagger = stagger
    positions = Array(repeating: nil, count: stagger.phases)
  }

  /// Adds the source's next frame; its `arrival` is the time at which it is due in the first phase.
  package mutating func add(_ frame: EncodedFrame, now: ContinuousClock.Instant) {
    frames.append(frame)
    trim(now: now)
  }

  /// Adds a publisher to a phase.
  ///
  /// - Returns: The frames since the last keyframe that the phase has sent, with which the new publisher starts.
  package mutating func join(_ phase: Int, now: ContinuousClock.Instant) -> [EncodedFrame] {
    let delay = stagger.delay(of: phase)
    let position = positions[phase] ?? base + (frames.firstIndex { $0.arrival + delay > now } ?? frames.count)
    positions[phase] = position
    let given = frames[..<(position - base)]
    guard let first = given.lastIndex(where: { $0.codec.kind == .video && $0.isKeyframe }) else { return [] }
    return given[first...].filter { $0.codec.kind == .video }.map { delayed($0, by: delay) }
  }

  /// When a phase's next frame is due, or nil if there is none.
  package func deadline(of phase: Int) -> ContinuousClock.Instant? {
    guard let position = positions[phase], position - base < frames.count else { return nil }
    return frames[position - base].arrival + stagger.delay(of: phase)
  }

  /// Removes and returns the frames that are due in a phase, in order, with `arrival` shifted by the phase's delay.
  package mutating func dequeue(_ phase: Int, now: ContinuousClock.Instant) -> [EncodedFrame] {
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

  /// Discards frames that no phase needs any more: all before the latest keyframe that every phase has sent.
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

/// The delays with which publishers send the frames of their shared source: each a little later than the previous one, so
/// that they are no more synchronised than real cameras.
///
/// If they were synchronised, all keyframes would be sent at the same moment, which no real receiver experiences.
/// Publishers of one phase send a frame together, which saves timers. The phases are spread over a second, the usual
/// keyframe interval of a file.
package struct StaggerSchedule: Sendable, Hashable {
  /// The number of phases; at least one.
  package let phases: Int

  /// A prime, so that the phases do not coincide with the 20 ms of audio and the 33 ms of video frames.
  package static let maximumPhases = 47
  package static let span: Duration = .seconds(1)

  /// - Parameter isLive: Whether the source is an encoder that answers its viewers' requests; then no publisher is
  ///   delayed.
  package init(publishers: Int, isLive: Bool) {
    phases = isLive ? 1 : min(max(1, publishers), Self.maximumPhases)
  }

  /// The phase of a publisher.
  package func phase(of index: Int) -> Int { index % phases }

  /// The delay of a phase relative to the source.
  package func delay(of phase: Int) -> Duration { Self.span / phases * phase }
}
