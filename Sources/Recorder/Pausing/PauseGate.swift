import Bitstream
import Media

/// Keeps out of a recording what is of a paused interval.
///
/// A frame's position on the time line decides: where it would have arrived if it had been as fast as the fastest ones. So a packet
/// that was requested again, or that the network delayed, belongs to the moment when it was sent. Where that is not certain, because
/// the sender's clock may have stood still, the frame is kept out.
///
/// ```
///   arrivals:   ──a──b──c──────┬──b'──d──e──f──────┬──e'──g──h──
///                              pause               resume
///   b' was sent before the pause and is recorded; e' was sent in it and is not; g, the first packet of audio, is not either
/// ```
struct PauseGate: Sendable {
  enum Verdict: Sendable, Equatable {
    /// It is recorded; the span is the pause that lies between it and the last recorded frame of its track.
    case record(PauseSpan?)
    case leaveOut
  }

  /// A frame that arrives later than this after its moment is not from before a pause, unless a retransmission explains it.
  static let maximumDelay = Duration.milliseconds(250)
  /// How much earlier than the time at which a missing packet was noticed the frames after it may have been sent.
  private static let recoveryMargin = Duration.milliseconds(300)
  /// How long after the start of a pause no frame from before it arrives.
  static let maximumRecovery = RecordingTimeline.recoveryTimeout + .seconds(1)
  /// For how long before a packet of Opus its extensions may contain audio: 1.04 s in libopus 1.5.
  private static let maximumExtension = Duration.milliseconds(1_100)
  /// The number of pauses without a recorded frame between them that are kept apart.
  private static let maximumPending = 16

  /// A pause after which nothing of a track has been recorded.
  private struct Pending: Sendable {
    var start: MonotonicInstant
    var end: MonotonicInstant?
  }

  private struct Track: Sendable {
    var pending: [Pending] = []
    /// When a missing packet was noticed, after which the frames are late.
    var recovering: MonotonicInstant?
    /// The start of the last pause whose first packet of audio has been left out, and the end of that packet.
    var skipped: (start: MonotonicInstant, end: MonotonicInstant)?
    /// What the network lost of a pause.
    var lost = MediaGap(.paused)
    /// What was missing before the pause, as its first frame reported it.
    var before: MediaGap?
    var hasLeftOut = false

    /// Takes over the participant's last pause.
    mutating func note(_ interval: PauseIntervals.Interval) {
      if let last = pending.last, last.start == interval.start {
        pending[pending.count - 1].end = interval.end
      } else if interval.end == nil {
        if pending.count == PauseGate.maximumPending {
          pending[1].start = pending[0].start
          pending.removeFirst()
        }
        pending.append(Pending(start: interval.start))
      }
    }
  }

  /// A pause after the last recorded frame of a track.
  struct Trailing: Sendable {
    var start: MonotonicInstant
    var end: MonotonicInstant
    /// What the network lost of it.
    var lost: MediaGap
  }

  private var intervals = PauseIntervals()
  private var audio = Track()
  private var video = Track()

  var isPaused: Bool { intervals.isPaused }

  /// Whether a frame that arrived at a moment must be judged.
  func concerns(_ kind: MediaKind, at arrival: MonotonicInstant) -> Bool {
    !intervals.all.isEmpty && (intervals.concern(arrival) || !self[kind].pending.isEmpty)
  }

  /// Whether all frames that arrive now are of a pause.
  func isWithin(_ arrival: MonotonicInstant) -> Bool {
    guard let last = intervals.all.last else { return false }
    return last.end == nil && arrival - last.start > Self.maximumRecovery
  }

  /// Takes over the intervals of the participant.
  mutating func set(_ intervals: PauseIntervals) {
    self.intervals = intervals
    guard let last = intervals.all.last else { return }
    audio.note(last)
    video.note(last)
  }

  /// Notes that the next frame of a track will be late.
  mutating func recovering(_ kind: MediaKind, now: MonotonicInstant) {
    if self[kind].recovering == nil { self[kind].recovering = now }
  }

  /// Judges a frame, in decoding order.
  ///
  /// - Parameter length: its playing time; zero for video.
  mutating func judge(_ frame: EncodedFrame, moment: FrameMoment, length: Duration) -> Verdict {
    let kind = frame.codec.kind
    let placed = min(moment.placed, moment.arrival)
    let delay = moment.arrival - min(moment.own, moment.arrival)
    if let gap = frame.gap, gap.delay > .zero { recovering(kind, now: frame.arrived - gap.delay) }
    let isExplained =
      delay <= Self.maximumDelay || self[kind].recovering.map { placed >= $0 - Self.recoveryMargin } ?? false
    if delay <= Self.maximumDelay { self[kind].recovering = nil }
    guard isOutside(placed, moment.arrival, length: length, isExplained: isExplained) else { return .leaveOut }
    let over = self[kind].pending.prefix { $0.end.map { $0 <= placed } ?? false }
    guard let first = over.first, let last = over.last, let end = last.end else { return .record(nil) }
    let hasExtensions = kind == .audio && frame.header.opus?.carriesExtensions ?? false
    if kind == .audio, audio.skipped?.start != last.start || hasExtensions && placed - end < Self.maximumExtension {
      audio.skipped = (last.start, placed + length)
      return .leaveOut
    }
    let track = self[kind]
    let until = kind == .audio ? track.skipped?.end ?? end : end
    return .record(
      PauseSpan(
        start: placed - first.start, end: max(.zero, placed - until), lost: track.lost, before: track.before))
  }

  /// Whether a frame is of no paused interval.
  ///
  /// - Parameter isExplained: whether it was sent when its position says so.
  private func isOutside(
    _ placed: MonotonicInstant, _ arrival: MonotonicInstant, length: Duration, isExplained: Bool
  ) -> Bool {
    intervals.all.allSatisfy { interval in
      if arrival < interval.start { return true }
      if let end = interval.end, placed >= end { return true }
      return placed + length <= interval.start && isExplained
    }
  }

  /// Notes a frame that is left out.
  ///
  /// - Parameter before: what no recorded frame has reported as missing, besides its own gap.
  mutating func leaveOut(_ frame: EncodedFrame, before: MediaGap? = nil) {
    let kind = frame.codec.kind
    if !self[kind].hasLeftOut {
      self[kind].hasLeftOut = true
      self[kind].before = before ?? frame.gap
      if before == nil { return }
    }
    self[kind].lost.packetsLost += frame.gap?.packetsLost ?? 0
    self[kind].lost.framesDropped += frame.gap?.framesDropped ?? 0
  }

  /// Notes that a frame after a pause is recorded.
  mutating func recorded(_ kind: MediaKind, at moment: FrameMoment) {
    let placed = min(moment.placed, moment.arrival)
    self[kind].pending.removeAll { $0.end.map { $0 <= placed } ?? false }
    self[kind].lost = MediaGap(.paused)
    self[kind].before = nil
    self[kind].hasLeftOut = false
    self[kind].skipped = nil
  }

  /// The pause after the last recorded frame of a track, with what the network lost of it; nil if there is none.
  ///
  /// - Parameter now: when a pause that lasts is seen.
  func trailing(_ kind: MediaKind, now: MonotonicInstant) -> Trailing? {
    let track = self[kind]
    guard let first = track.pending.first, let last = track.pending.last else { return nil }
    var gap = track.lost
    gap.packetsLost += track.before?.packetsLost ?? 0
    gap.framesDropped += track.before?.framesDropped ?? 0
    return Trailing(start: first.start, end: last.end ?? max(now, last.start), lost: gap)
  }

  private subscript(kind: MediaKind) -> Track {
    get { kind == .audio ? audio : video }
    set { if kind == .audio { audio = newValue } else { video = newValue } }
  }
}
