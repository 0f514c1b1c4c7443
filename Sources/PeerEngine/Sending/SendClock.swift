package import Media

/// The one clock of everything that is sent: where a frame's media time lies on the time line that RTP timestamps and
/// sender reports share, so that both tracks agree.
///
/// Media time and our clock go side by side. When a source starts again, stalls or jumps by more than half a second, the
/// line continues at the present moment. Where the tracks' times have nothing to do with each other, as those of a
/// participant whose media is sent back, each has a place of its own beside our clock.
package struct SendClock: Sendable {
  /// What a frame's time can be compared with.
  package enum Times: Sendable, Hashable {
    /// Audio and video are on one clock.
    case shared
    /// Each track has an origin of its own.
    case ofTrack
  }

  /// How far a frame's time may be off before the line is laid again.
  private static let tolerance: Duration = .milliseconds(500)

  /// The line's zero.
  package let epoch: MonotonicInstant
  /// What a media time has to be moved by to lie on the line.
  private var shift: Duration?
  /// The same for tracks that have an origin of their own.
  private var audioShift: Duration?
  private var videoFrameShift: Duration?
  /// The most by which such a track is moved with a frame, to where its fastest frames belong.
  private static let step: Duration = .milliseconds(1)

  package init(epoch: MonotonicInstant) {
    self.epoch = epoch
  }

  /// Where a frame lies, in ticks of its codec since the epoch.
  ///
  /// - Parameter due: when the frame is, or was, to be sent.
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
      moved = Self.followFastest(videoFrameShift, media: media, present: present)
      videoFrameShift = moved
    }
    // The media's own ticks are moved as a whole, so that their distances stay exact.
    let ticks = time.rate == codec.clockRate ? time.ticks : Self.ticks(media, rate: codec.clockRate)
    return ticks &+ Self.ticks(moved, rate: codec.clockRate)
  }

  private static func follow(_ shift: Duration?, media: Duration, present: Duration) -> Duration {
    guard let shift else { return present - media }
    let distance = media + shift - present
    return distance > tolerance || distance < .zero - tolerance ? present - media : shift
  }

  /// A track's first frame may have waited for something; one that comes sooner shows where the track belongs.
  private static func followFastest(_ shift: Duration?, media: Duration, present: Duration) -> Duration {
    let shift = follow(shift, media: media, present: present)
    return shift - min(step, max(.zero, media + shift - present))
  }

  /// Where the present moment lies.
  package func ticks(at now: MonotonicInstant, rate: Int32) -> Int64 {
    Self.ticks(now - epoch, rate: rate)
  }

  private static func ticks(_ span: Duration, rate: Int32) -> Int64 {
    let (seconds, attoseconds) = span.components
    let nanoseconds = attoseconds / 1_000_000_000
    return seconds &* Int64(rate) &+ nanoseconds * Int64(rate) / 1_000_000_000
  }
}
