package import Media

/// The one clock of everything that is sent: where a frame's media time lies on the time line that RTP timestamps and
/// sender reports share, so that both tracks agree.
///
/// Media time and our clock go side by side. When a source begins anew, stalls or jumps by more than half a second, the
/// line goes on at the present moment.
package struct SendClock: Sendable {
  /// How far a frame's time may be off before the line is laid anew.
  private static let tolerance: Duration = .milliseconds(500)

  /// The line's zero.
  package let epoch: ContinuousClock.Instant
  /// What a media time has to be moved by to lie on the line.
  private var shift: Duration?

  package init(epoch: ContinuousClock.Instant) {
    self.epoch = epoch
  }

  /// Where a frame lies, in ticks of its codec since the epoch.
  ///
  /// - Parameter due: when the frame is, or was, to be sent.
  package mutating func ticks(of time: MediaTime, rate: Int32, due: ContinuousClock.Instant) -> Int64 {
    let present = due - epoch
    let media = time.duration
    if let shift {
      let distance = media + shift - present
      if distance > Self.tolerance || distance < .zero - Self.tolerance { self.shift = present - media }
    } else {
      shift = present - media
    }
    // The media's own ticks are moved as a whole, so that their distances stay exact.
    let ticks = time.rate == rate ? time.ticks : Self.ticks(media, rate: rate)
    return ticks &+ Self.ticks(shift ?? .zero, rate: rate)
  }

  /// Where the present moment lies.
  package func ticks(at now: ContinuousClock.Instant, rate: Int32) -> Int64 {
    Self.ticks(now - epoch, rate: rate)
  }

  private static func ticks(_ span: Duration, rate: Int32) -> Int64 {
    let (seconds, attoseconds) = span.components
    let nanoseconds = attoseconds / 1_000_000_000
    return seconds &* Int64(rate) &+ nanoseconds * Int64(rate) / 1_000_000_000
  }
}
