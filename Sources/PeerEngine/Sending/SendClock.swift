package import Media

/// The common clock of all sent media: maps a frame's media time to the timeline that RTP timestamps and sender reports
/// share, so that both tracks are in sync.
///
/// Media time and our clock advance together. When a source restarts, stalls or jumps by more than half a second, the
/// timeline continues at the present time. If the tracks' times are unrelated, as those of a participant whose media is
/// looped back, each track has an offset of its own.
package struct SendClock: Sendable {
  /// How the times of frames relate to each other.
  package enum Times: Sendable, Hashable {
    /// Audio and video are on one clock.
    case shared
    /// Each track has an origin of its own.
    case ofTrack
  }

  /// How far a frame's time may deviate before the offset is set again.
  private static let tolerance: Duration = .milliseconds(500)

  /// The origin of the timeline.
  package let epoch: MonotonicInstant
  /// The offset from media time to the timeline.
  private var shift: Duration?
  /// The same for tracks that have an origin of their own.
  private var audioShift: Duration?
  private var videoShift: Duration?
  /// The maximum by which the offset of a track is corrected with a frame, towards its earliest frames.
  private static let step: Duration = .milliseconds(1)

  package init(epoch: MonotonicInstant) {
    self.epoch = epoch
  }

  /// Returns the position of a frame on the timeline, in ticks of its codec since the epoch.
  ///
  /// - Parameter due: when the frame must be, or should have been, sent.
  package mutating func ticks(
    of time: MediaTime, codec: Codec, times: Times = .shared, due: MonotonicInstant
  ) -> Int64 {
    let present = due - epoch
    let media = time.duration
    let moved: Duration
    switch (times, codec.kind) {
    case (.shared, _):
      moved = Self.follow(shift, media: media, present: present)
      shift = moved
    case (.ofTrack, .audio):
      moved = Self.followFastest(audioShift, media: media, present: present)
      audioShift = moved
    case (.ofTrack, .video):
      moved = Self.followFastest(videoShift, media: media, present: present)
      videoShift = moved
    }
    // The media's own ticks are shifted as a whole, so that their distances stay exact.
    let ticks = time.rate == codec.clockRate ? time.ticks : Self.ticks(media, rate: codec.clockRate)
    return ticks &+ Self.ticks(moved, rate: codec.clockRate)
  }

  private static func follow(_ shift: Duration?, media: Duration, present: Duration) -> Duration {
    guard let shift else { return present - media }
    let distance = media + shift - present
    return distance > tolerance || distance < .zero - tolerance ? present - media : shift
  }

  /// Returns the offset corrected towards the earliest frames: a track's first frame may have been delayed, and one that
  /// arrives earlier shows the right offset.
  private static func followFastest(_ shift: Duration?, media: Duration, present: Duration) -> Duration {
    let shift = follow(shift, media: media, present: present)
    return shift - min(step, max(.zero, media + shift - present))
  }

  /// Returns the present position on the timeline.
  package func ticks(at now: MonotonicInstant, rate: Int32) -> Int64 {
    Self.ticks(now - epoch, rate: rate)
  }

  private static func ticks(_ span: Duration, rate: Int32) -> Int64 {
    let (seconds, attoseconds) = span.components
    let nanoseconds = attoseconds / 1_000_000_000
    return seconds &* Int64(rate) &+ nanoseconds * Int64(rate) / 1_000_000_000
  }
}
