import Media

/// Detects that a track's media clock stopped during a pause.
///
/// The clock of a microphone that is switched off and on continues where it stopped, so all later packets seem late by
/// the length of the pause. So do packets that a bad network delayed; but those catch up, and within moments when they
/// arrive in one burst.
struct ClockStopDetector: Sendable {
  /// The minimum lag of the clock behind the arrivals, after a pause, for this check.
  static let shortest = Duration.milliseconds(600)
  /// How long to observe audio that continues without a step after a pause, to distinguish the two cases.
  static let audioObservation = Duration.milliseconds(200)
  /// The same for video, which can be late for longer: more than the time waited for a missing packet.
  static let videoObservation = Duration.seconds(4)

  /// A detected stop.
  struct Found: Sendable, Hashable {
    /// When the first frame after the pause arrived, and the number of frames since then, including that one.
    var since: MonotonicInstant
    var frames: Int
    /// The length of the stop.
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

  /// Whether the positions of the last frames may still have to move later.
  func isUndecided(now: MonotonicInstant) -> Bool {
    guard let lag, lag.isContinued else { return false }
    return now - lag.since < Self.audioObservation * 2
  }

  /// Adds the next frame.
  ///
  /// - Parameter late: how far its media time lags behind the fastest frames.
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
    let isCertain = !catchesUp && elapsed >= (lag.isContinued ? Self.audioObservation : Self.videoObservation)
    self.lag = catchesUp || isCertain ? nil : lag
    if !isCertain { return nil }
    // Frames that were released long ago keep their positions.
    return Found(since: lag.since, frames: lag.isContinued ? lag.frames : 1, length: lag.least)
  }

  private mutating func begin(_ entry: TrackTimeline.Entry, after last: TrackTimeline.Entry, late: Duration) {
    let step = entry.time.duration(since: last.time)
    guard entry.arrival - last.arrival - step > Self.shortest else { return }
    let isContinued = entry.follows && last.length.map { step <= $0 * 1.5 } ?? false
    lag = Lag(since: entry.arrival, time: entry.time, isContinued: isContinued, least: late, most: late)
  }
}
