package import Media
package import RTP

/// The wall clock as sender reports tell it: read once, then moved on by the monotonic clock, so that a clock that is
/// set anew in mid-call changes nothing for the receivers.
package struct SessionClock: Sendable {
  /// When media time, reference times and the like begin.
  package let epoch: Moment
  private var reading: (instant: Moment, time: NTPTime)?

  package init(epoch: Moment) {
    self.epoch = epoch
  }

  /// Takes the wall clock's reading; only the first one counts.
  package mutating func read(_ time: NTPTime, now: Moment) {
    if reading == nil { reading = (now, time) }
  }

  /// The wall clock at an instant; before the first reading, the time since the epoch.
  package func time(at now: Moment) -> NTPTime {
    guard let reading else { return NTPTime(value: 0) + (now - epoch) }
    return reading.time + (now - reading.instant)
  }
}
