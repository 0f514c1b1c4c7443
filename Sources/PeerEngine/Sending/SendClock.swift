package import Media

/// The common clock of all sent media: maps a frame's media time to the timeline that RTP timestamps and sender reports
/// share, so that both tracks are in sync.
///
/// Media time and our clock advance together. When a source restarts, stalls or jumps by more than half a second, the
/// timeline continues at the present time. If the tracks' times are unrelated, as those of a participant whose media is
/// looped back, each track has an offset of its own, and sender reports relate the tracks by their earliest frames.
package struct SendClock: Sendable {
  /// How the times of frames relate to each other.
  package enum Times: Sendable, Hashable {
    /// Audio and video are on one clock.
    case shared
    /// Each track has an origin of its own.
    case ofTrack
  }

  /// The offset of a track that has an origin of its own.
  private struct TrackOffset: Sendable {
    /// The offset from media time to timestamps. It is that of the first frame, which may have been delayed, and does not
    /// change, because timestamps must keep the distances of the frames.
    var shift: Duration
    /// The least offset from media time to the time of sending: that of the frames that were delayed least.
    var least: Duration { min(leastBefore ?? leastNow, leastNow) }

    /// The least offset in the present window and in the one before, so that it follows a clock that drifts.
    private var leastNow: Duration
    private var leastBefore: Duration?
    private var windowEnd: Duration

    private static let window: Duration = .seconds(10)

    init(shift: Duration, present: Duration) {
      self.shift = shift
      leastNow = shift
      windowEnd = present + Self.window
    }

    mutating func observe(_ offset: Duration, present: Duration) {
      if present >= windowEnd {
        leastBefore = leastNow
        leastNow = offset
        windowEnd = present + Self.window
      }
      leastNow = min(leastNow, offset)
    }
  }

  /// How far a frame's time may deviate before the offset is set again.
  private static let tolerance: Duration = .milliseconds(500)

  /// The origin of the timeline.
  package let epoch: MonotonicInstant
  /// The offset from media time to the timeline.
  private var shift: Duration?
  /// The same for tracks that have an origin of their own.
  private var offsets: [LocalDescription.Key: TrackOffset] = [:]

  package init(epoch: MonotonicInstant) {
    self.epoch = epoch
  }

  /// Returns the timestamp of a frame, in ticks of its codec since the epoch.
  ///
  /// - Parameters:
  ///   - stream: the number of our stream, for a track with an origin of its own.
  ///   - due: when the frame must be, or should have been, sent.
  package mutating func ticks(
    of time: MediaTime, codec: Codec, stream: Int = 1, times: Times = .shared, due: MonotonicInstant
  ) -> Int64 {
    let present = due - epoch
    let media = time.duration
    let moved: Duration
    switch times {
    case .shared:
      if let shift, Self.agree(media + shift, present) { moved = shift } else { moved = present - media }
      shift = moved
    case .ofTrack:
      moved = Self.track(&offsets[.init(stream: stream, kind: codec.kind)], media: media, present: present)
    }
    // The media's own ticks are shifted as a whole, so that their distances stay exact.
    let ticks = time.rate == codec.clockRate ? time.ticks : Self.ticks(media, rate: codec.clockRate)
    return ticks &+ Self.ticks(moved, rate: codec.clockRate)
  }

  private static func agree(_ expected: Duration, _ present: Duration) -> Bool {
    let distance = expected - present
    return distance <= tolerance && distance >= .zero - tolerance
  }

  private static func track(_ offset: inout TrackOffset?, media: Duration, present: Duration) -> Duration {
    guard var known = offset, agree(media + known.least, present) else {
      offset = TrackOffset(shift: present - media, present: present)
      return present - media
    }
    known.observe(present - media, present: present)
    offset = known
    return known.shift
  }

  /// Returns the timestamp of the present moment, for sender reports (RFC 3550, 6.4.1).
  ///
  /// On a track with an origin of its own it is the timestamp that a frame sent now has if it was not delayed.
  package func ticks(at now: MonotonicInstant, codec: Codec, stream: Int = 1) -> Int64 {
    var present = now - epoch
    if let offset = offsets[.init(stream: stream, kind: codec.kind)] { present += offset.shift - offset.least }
    return Self.ticks(present, rate: codec.clockRate)
  }

  private static func ticks(_ span: Duration, rate: Int32) -> Int64 {
    let (seconds, attoseconds) = span.components
    let nanoseconds = attoseconds / 1_000_000_000
    return seconds &* Int64(rate) &+ nanoseconds * Int64(rate) / 1_000_000_000
  }
}
