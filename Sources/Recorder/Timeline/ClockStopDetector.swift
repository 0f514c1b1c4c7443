import Media

/// Finds out whether a track's media clock stopped in a pause.
///
/// A microphone that is switched off and on counts on where it stopped, so that all that follows seems late by the length
/// of the pause. So do packets that a bad network held up; but those catch up, within moments when they come in one burst.
struct ClockStopDetector: Sendable {
  /// How far a pause must leave the clock behind the arrivals before this is asked at all.
  static let shortest = Duration.milliseconds(600)
  /// How long audio that continues without a step after a pause may show which of the two it is.
  static let reflection = Duration.milliseconds(200)
  /// The same for frames, which can be late for longer: more than a missing packet is waited for.
  static let patience = Duration.seconds(4)

  /// A clock that stopped.
  struct Found: Sendable, Hashable {
    /// When the first frame after the pause came, and how many have come since, that one included.
    var since: MonotonicInstant
    var frames: Int
    /// For how long.
    var length: Duration
  }

  private struct Lag: Sendable {
    var since: MonotonicInstant
    var time: MediaTime
    /// Whether it is audio that continues as if there had been no pause.
    var isContinued: Bool
    var least: Duration
    var most: Duration
    var frames = 1
  }

  private var lag: Lag?

  /// Whether the last frames may still turn out to belong later.
  func isUndecided(now: MonotonicInstant) -> Bool {
    guard let lag, lag.isContinued else { return false }
    return now - lag.since < Self.reflection * 2
  }

  /// Takes the next frame.
  ///
  /// - Parameter late: how far its media time is behind the fastest frames.
  /// - Returns: the stop, once it is certain.
  mutating func take(_ entry: TrackTimeline.Entry, after last: TrackTimeline.Entry, late: Duration) -> Found? {
    guard late > Self.shortest else {
      lag = nil
      return nil
    }
    guard var lag else {
      begin(entry, after: last, late: late)
      return nil
    }
    lag.frames += 1
    lag.least = min(lag.least, late)
    lag.most = max(lag.most, late)
    let elapsed = entry.arrival - lag.since
    let played = entry.time.duration(since: lag.time)
    let catchesUp =
      lag.isContinued ? played > elapsed * 1.5 + .milliseconds(100) : lag.most - lag.least > .milliseconds(300)
    let isCertain = !catchesUp && elapsed >= (lag.isContinued ? Self.reflection : Self.patience)
    self.lag = catchesUp || isCertain ? nil : lag
    if !isCertain { return nil }
    // Frames that were given away long ago stay where they are.
    return Found(since: lag.since, frames: lag.isContinued ? lag.frames : 1, length: lag.least)
  }

  private mutating func begin(_ entry: TrackTimeline.Entry, after last: TrackTimeline.Entry, late: Duration) {
    let step = entry.time.duration(since: last.time)
    guard entry.arrival - last.arrival - step > Self.shortest else { return }
    let isContinued = entry.follows && last.length.map { step <= $0 * 1.5 } ?? false
    lag = Lag(since: entry.arrival, time: entry.time, isContinued: isContinued, least: late, most: late)
  }
}
