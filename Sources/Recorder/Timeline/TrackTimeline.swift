import Media

/// The timeline of one track: seconds since its first frame, by the sender's media clock.
///
/// ```
///              10 frames, ½ s: the clock is wrong; or it drifted by `tolerance`
///   by clock ────────────────────────────────────────────────────────────────► by arrivals
///       ▲                                                                           │
///       └───────────────────── 5 s of steps that agree with the arrivals ───────────┘
/// ```
///
/// The media clock is trusted as long as it roughly agrees with the arrivals. A single timestamp that does not fit is
/// ignored; two that fit each other are a jump, and the timeline continues with them at the position given by their
/// arrival. If the clock is wrong altogether (`ClockValidator`), evenly paced arrivals are used instead
/// (`ArrivalPacer`). So no timestamp can make a recording longer, shorter, faster or slower than the call was. The
/// timeline follows a slow drift, as between two quartz clocks. Neither that drift nor frames that arrive up to 3 s late
/// count as a jump, nor do later ones that catch up within 15 s after the network was interrupted (`Backlog`).
///
/// Some senders stop their clock while they send nothing: the clock of a microphone that is switched off and on
/// continues where it stopped. At first this looks like a burst of late packets; a fifth of a second later it does not
/// (`isUndecided`).
struct TrackTimeline: Sendable {
  /// The maximum difference between media time and arrivals: more than any delay of a retransmitted packet.
  static let tolerance = Duration.seconds(5)
  /// The maximum delay of frames that catch up after an interruption: what a sender stores for retransmission, and what it
  /// had not sent yet.
  static let maximumBacklog = Duration.seconds(15)
  /// How long frames may take to catch up.
  static let catchUpTime = Duration.seconds(15)
  /// How much faster or slower than ours a sender's clock may run permanently: 1,000 ppm.
  static let maximumDrift = 0.001
  /// How far the clock may be ahead of the fastest frames of the last half minute, after 10 s of frames: a frame can
  /// arrive late, but not before it was sent.
  static let maximumLead = Duration.milliseconds(600)
  /// A step of the clock that differs from the step of the arrivals by more than this is a jump.
  static let maximumJump = Duration.seconds(1)
  /// The maximum lag of a report behind the fastest frames. A larger lag means a long network delay, or a clock that
  /// stops.
  static let maximumReportDelay = Duration.milliseconds(300)
  /// The properties of a frame that determine its position.
  struct Entry: Sendable {
    var time: MediaTime
    var arrival: MonotonicInstant
    /// The playing time of an audio packet; nil for video.
    var length: Duration?
    /// Whether no packet between it and the previous frame was lost.
    var follows = true
  }

  private struct Anchor: Sendable {
    var time: MediaTime
    var position: Duration
  }

  /// Frames that a network delivers after an interruption in which others were lost. They are late and catch up, unlike those
  /// of a clock that stopped, which lose no packet.
  private struct Backlog: Sendable {
    /// How late they may be.
    var delay: Duration
    var end: MonotonicInstant
    /// How late the least late of them was.
    var least: Duration
  }

  private var start: MonotonicInstant?
  private var last: Entry?
  private var anchor: Anchor?
  /// The base of a new clock sequence, if the last outlier was its first timestamp.
  private var candidateAnchor: Anchor?
  /// The position of the last frame that the clock determined.
  private var clockPosition = Duration.zero
  /// How far the timeline has run ahead of the arrivals since the start, followed slowly.
  private var drift = Duration.zero
  private var judge = ClockValidator()
  private var pace = ArrivalPacer()
  private var stop = ClockStopDetector()
  private var backlog: Backlog?
  /// When the clock's base was changed; earlier reports do not apply to it.
  private var anchoredAt: MonotonicInstant?
  /// How many of the last frames must be moved later, and by how much; the caller fetches it after each frame.
  private var move: (frames: Int, by: Duration)?
  /// When position zero would have arrived; set while arrivals determine the positions.
  private var beginning: MonotonicInstant?

  /// The start of the timeline according to the frames' delays.
  private(set) var delays = DelayRange()
  /// The position of the last frame.
  private(set) var position = Duration.zero
  /// How often the timeline had to continue from the arrivals.
  private(set) var breaks = 0

  /// Whether a frame has been added.
  var hasStarted: Bool { start != nil }
  /// Whether the sender's clock determines the positions, and not the arrivals.
  var isTrusted: Bool { beginning == nil }
  /// Whether the clock of the first frames looks wrong, so that it is better to wait for more before their positions
  /// become final.
  var isSuspicious: Bool { isTrusted && judge.isSuspicious }

  init() {}

  /// Creates a timeline that uses arrivals from its first frame on, until its clock has proved right.
  static func byArrivals(from beginning: MonotonicInstant) -> TrackTimeline {
    var timeline = TrackTimeline()
    timeline.start = beginning
    timeline.beginning = beginning
    timeline.breaks = 1
    return timeline
  }

  /// Returns the position of the next frame in decoding order; never before that of the previous frame.
  mutating func offset(_ entry: Entry) -> Duration {
    let start = self.start ?? entry.arrival
    self.start = start
    if let last {
      advance(to: entry, after: last, elapsed: entry.arrival - start)
    } else {
      anchor = Anchor(time: entry.time, position: .zero)
    }
    // The delays of a backlog say nothing about those of the frames after it.
    if backlog == nil { delays.add(arrival: entry.arrival, position: position) }
    last = entry
    return position
  }

  /// Whether the last frames may have to move later, so that they should not be released yet.
  func isUndecided(now: MonotonicInstant) -> Bool { stop.isUndecided(now: now) }

  /// Returns, once, how many of the frames before the last one must move later, and by how much.
  mutating func takeMove() -> (frames: Int, by: Duration)? {
    defer { move = nil }
    return move
  }

  /// Returns the position of a sender report's media time; nil before the first frame, and for a report that does not
  /// apply to the timeline as it runs now.
  func position(of report: ClockReport) -> Duration? {
    guard let start, let anchor, isTrusted else { return nil }
    if let anchoredAt, report.arrived < anchoredAt { return nil }
    let candidate = anchor.position + report.time.duration(since: anchor.time)
    let surprise = candidate - (report.arrived - start) - drift
    if surprise > Self.tolerance || surprise < .zero - Self.tolerance { return nil }
    return arrivalPosition(report.arrived) - candidate > Self.maximumReportDelay ? nil : candidate
  }

  // MARK: One step

  private mutating func advance(to entry: Entry, after last: Entry, elapsed: Duration) {
    guard var anchor else { return }
    let step = entry.time.duration(since: last.time)
    let arrivalStep = entry.arrival - last.arrival
    var candidate = anchor.position + entry.time.duration(since: anchor.time)
    var surprise = candidate - elapsed - drift
    let excess = step - arrivalStep
    let standstill = isTrusted ? followBacklog(entry, pause: .zero - excess, late: .zero - surprise) : .zero
    if standstill > .zero {
      breaks += 1
      anchor.position += standstill
      candidate += standstill
      surprise += standstill
      self.anchor = anchor
      anchoredAt = entry.arrival
      // The frames of the last seconds had wrong positions.
      delays = DelayRange()
    }
    let isOutside =
      surprise > Self.tolerance || surprise < .zero - (backlog?.delay ?? Self.tolerance)
      || isAhead(candidate, at: entry.arrival)
    let isSudden = excess > Self.maximumJump || excess < .zero - Self.maximumJump
    let isOutlier =
      isTrusted
      ? candidate <= clockPosition || isOutside
      : step <= .zero || isSudden
    let result = judge.take(
      .init(media: step, arrival: arrivalStep, length: last.length, follows: entry.follows, isOutlier: isOutlier),
      // That they are late is not the clock's fault.
      surprise: isTrusted && backlog == nil ? surprise : .zero)
    if !isTrusted {
      placeByArrival(entry, after: last, step: arrivalStep)
      if result == .right { switchToMediaClock(entry, elapsed: elapsed) }
    } else if result == .wrong || (isOutside && !isSudden && candidateAnchor == nil && candidate > clockPosition) {
      switchToArrivals(at: entry.arrival)
      placeByArrival(entry, after: last, step: arrivalStep)
    } else if isOutlier {
      placeOutlier(entry)
    } else {
      followDrift(surprise, step: arrivalStep)
      candidateAnchor = nil
      clockPosition = candidate
      if candidate > position { position = candidate }
      watchStop(entry, after: last)
    }
  }

  private mutating func followDrift(_ surprise: Duration, step: Duration) {
    if step <= .zero { return }
    let most = step * Self.maximumDrift
    drift += min(max(surprise, .zero - most), most)
  }

  /// - Parameters:
  ///   - pause: how much longer than the media the pause in the arrivals was.
  ///   - late: how late the frame is by its media time.
  /// - Returns: how long the sender's clock stood still, if the frames have not caught up; otherwise zero.
  private mutating func followBacklog(_ entry: Entry, pause: Duration, late: Duration) -> Duration {
    if !entry.follows, pause > Self.maximumJump {
      let end = entry.arrival + Self.catchUpTime
      let delay = min(Self.maximumBacklog, max(pause, late) + Self.tolerance)
      backlog = Backlog(delay: delay, end: end, least: late)
    }
    guard let least = backlog?.least else { return .zero }
    backlog?.least = min(least, late)
    guard let backlog, entry.arrival > backlog.end || late < Self.maximumJump else { return .zero }
    self.backlog = nil
    return backlog.least > Self.tolerance ? backlog.least : .zero
  }

  /// Whether a position is ahead of what the fastest frames of the last half minute allow, after 10 s of frames.
  private func isAhead(_ position: Duration, at arrival: MonotonicInstant) -> Bool {
    delays.steps > 2 && position - arrivalPosition(arrival) > Self.maximumLead
  }

  // MARK: Outliers

  private mutating func placeOutlier(_ entry: Entry) {
    if let candidateAnchor {
      let continued = candidateAnchor.position + entry.time.duration(since: candidateAnchor.time)
      let excess = continued - arrivalPosition(entry.arrival)
      if continued > candidateAnchor.position, excess <= Self.maximumLead / 2, excess >= .zero - Self.maximumJump {
        anchor = candidateAnchor
        anchoredAt = last?.arrival
        self.candidateAnchor = nil
        clockPosition = continued
        position = max(position, continued)
        return
      }
    } else {
      breaks += 1
    }
    position = max(position, arrivalPosition(entry.arrival))
    candidateAnchor = Anchor(time: entry.time, position: position)
  }

  /// Returns a frame's position according to its arrival alone, assuming the delay of the fastest frames.
  private func arrivalPosition(_ arrival: MonotonicInstant) -> Duration {
    delays.typical.map { arrival - $0 } ?? position
  }

  // MARK: A clock that stopped

  private mutating func watchStop(_ entry: Entry, after last: Entry) {
    let late = arrivalPosition(entry.arrival) - clockPosition
    guard let found = stop.take(entry, after: last, late: late) else { return }
    breaks += 1
    move = (found.frames - 1, found.length)
    position += found.length
    clockPosition = position
    anchor = Anchor(time: entry.time, position: position)
    anchoredAt = found.since
  }

  // MARK: By arrivals

  private mutating func placeByArrival(_ entry: Entry, after last: Entry, step: Duration) {
    guard let beginning else { return }
    position = pace.next(after: position, target: entry.arrival - beginning, step: step, length: last.length)
  }

  private mutating func switchToArrivals(at arrival: MonotonicInstant) {
    breaks += 1
    beginning = delays.typical ?? arrival - position
    pace = ArrivalPacer()
    candidateAnchor = nil
    stop = ClockStopDetector()
    backlog = nil
  }

  private mutating func switchToMediaClock(_ entry: Entry, elapsed: Duration) {
    beginning = nil
    anchor = Anchor(time: entry.time, position: position)
    anchoredAt = entry.arrival
    clockPosition = position
    drift = position - elapsed
  }
}
