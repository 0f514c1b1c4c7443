import Media

/// One track's own line of time: seconds since its first frame, by the sender's media clock.
///
/// ```
///              10 frames, ½ s: the clock is wrong; or it crept `tolerance` away
///   by clock ────────────────────────────────────────────────────────────────► by arrivals
///       ▲                                                                           │
///       └───────────────────── 5 s of steps that agree with the arrivals ───────────┘
/// ```
///
/// The media clock is trusted as long as it goes roughly as the arrivals do. A single timestamp that does not fit is
/// skipped; two that fit each other are a jump, and the line continues from them where the arrivals say. A clock that is
/// wrong altogether (`ClockValidator`) is left aside for evenly paced arrivals (`ArrivalPacer`). So no timestamp can make a
/// recording longer, shorter, faster or slower than the call was. A slow drift, as between two quartz clocks, is followed
/// and never counts as a jump; nor do frames that come up to 3 s late.
///
/// Some senders stop their clock while they send nothing: a microphone that is switched off and on counts on where it
/// stopped. That looks at first like a burst recently packets; a fifth of a second later it does not (`isUndecided`).
struct TrackTimeline: Sendable {
  /// How far media time and arrivals may part: more than any delay that a recovered packet can have.
  static let tolerance = Duration.seconds(5)
  /// How much faster or slower than ours a sender's clock may run for ever: 1,000 ppm.
  static let maximumDrift = 0.001
  /// How far the clock may be ahead of the fastest frames of the last half minute, once they have told for 10 s: a frame can
  /// come late, but not before it was sent.
  static let maximumLead = Duration.milliseconds(600)
  /// By how much more than the arrivals a step of the clock is sudden.
  static let maximumJump = Duration.seconds(1)
  /// How far a report may be behind the fastest frames. One that is further behind took long on its way, or reports a clock
  /// that stops.
  static let maximumReportDelay = Duration.milliseconds(300)
  /// A frame as the line needs it.
  struct Entry: Sendable {
    var time: MediaTime
    var arrival: MonotonicInstant
    /// How long it is heard; nil for a frame.
    var length: Duration?
    /// Whether no packet between it and the one before was lost.
    var follows = true
  }

  private struct Anchor: Sendable {
    var time: MediaTime
    var position: Duration
  }

  private var start: MonotonicInstant?
  private var last: Entry?
  private var anchor: Anchor?
  /// Where the next frame would continue from if the last odd one was the first of a new count.
  private var doubt: Anchor?
  /// The position of the last frame that the clock placed.
  private var clockPosition = Duration.zero
  /// How far the line has run ahead of the arrivals since the start, slowly followed.
  private var drift = Duration.zero
  private var judge = ClockValidator()
  private var pace = ArrivalPacer()
  private var stop = ClockStopDetector()
  /// When the clock was set again; what was reported before does not belong to it.
  private var anchoredAt: MonotonicInstant?
  /// How many of the last frames belong later than they were placed, and by how much; to be taken after each frame.
  private var move: (frames: Int, by: Duration)?
  /// When position zero would have arrived; set while arrivals tell the time.
  private var beginning: MonotonicInstant?

  /// When the line would have begun, by the frames' delays.
  private(set) var delays = DelayRange()
  /// The position of the last frame.
  private(set) var position = Duration.zero
  /// How often the line had to continue from the arrivals.
  private(set) var breaks = 0

  /// Whether a frame has come.
  var hasStarted: Bool { start != nil }
  /// Whether the sender's clock tells the time, and not the arrivals.
  var isTrusted: Bool { beginning == nil }
  /// Whether the first frames look as if their clock were wrong, so that more should come before they are placed for good.
  var isSuspicious: Bool { isTrusted && judge.isSuspicious }

  init() {}

  /// A path that is given by arrivals from its first frame on, until its clock has proved right.
  static func byArrivals(from beginning: MonotonicInstant) -> TrackTimeline {
    var line = TrackTimeline()
    line.start = beginning
    line.beginning = beginning
    line.breaks = 1
    return line
  }

  /// The line's position of the next frame in decoding order; never before that of the frame before it.
  mutating func offset(_ entry: Entry) -> Duration {
    let start = self.start ?? entry.arrival
    self.start = start
    if let last {
      advance(to: entry, after: last, elapsed: entry.arrival - start)
    } else {
      anchor = Anchor(time: entry.time, position: .zero)
    }
    delays.add(arrival: entry.arrival, position: position)
    last = entry
    return position
  }

  /// Whether the last frames may still turn out to belong later, so that they should not be given away yet.
  func isUndecided(now: MonotonicInstant) -> Bool { stop.isUndecided(now: now) }

  /// How many of the frames before the last one belong later than they were placed, and by how much; told once.
  mutating func takeMove() -> (frames: Int, by: Duration)? {
    defer { move = nil }
    return move
  }

  /// The line's position of a sender report's media time; nil before the first frame and for a report that does not
  /// belong to the line as it runs now.
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
    guard let anchor else { return }
    let step = entry.time.duration(since: last.time)
    let arrivalStep = entry.arrival - last.arrival
    let candidate = anchor.position + entry.time.duration(since: anchor.time)
    let surprise = candidate - elapsed - drift
    let isOutside =
      surprise > Self.tolerance || surprise < .zero - Self.tolerance || isAhead(candidate, at: entry.arrival)
    let excess = step - arrivalStep
    let isSudden = excess > Self.maximumJump || excess < .zero - Self.maximumJump
    let isOdd =
      isTrusted
      ? candidate <= clockPosition || isOutside
      : step <= .zero || isSudden
    let verdict = judge.take(
      .init(media: step, arrival: arrivalStep, length: last.length, follows: entry.follows, isOdd: isOdd),
      surprise: isTrusted ? surprise : .zero)
    if !isTrusted {
      placeByArrival(entry, after: last, step: arrivalStep)
      if verdict == .right { believe(entry, elapsed: elapsed) }
    } else if verdict == .wrong || (isOutside && !isSudden && doubt == nil && candidate > clockPosition) {
      reject(at: entry.arrival)
      placeByArrival(entry, after: last, step: arrivalStep)
    } else if isOdd {
      placeOdd(entry)
    } else {
      followDrift(surprise, step: arrivalStep)
      doubt = nil
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

  /// Whether a position is ahead of what the fastest frames of the last half minute allow, once they have told for 10 s.
  private func isAhead(_ position: Duration, at arrival: MonotonicInstant) -> Bool {
    delays.steps > 2 && position - arrivalPosition(arrival) > Self.maximumLead
  }

  // MARK: Odd timestamps

  private mutating func placeOdd(_ entry: Entry) {
    if let doubt {
      let continued = doubt.position + entry.time.duration(since: doubt.time)
      let excess = continued - arrivalPosition(entry.arrival)
      if continued > doubt.position, excess <= Self.maximumLead / 2, excess >= .zero - Self.maximumJump {
        anchor = doubt
        anchoredAt = last?.arrival
        self.doubt = nil
        clockPosition = continued
        position = max(position, continued)
        return
      }
    } else {
      breaks += 1
    }
    position = max(position, arrivalPosition(entry.arrival))
    doubt = Anchor(time: entry.time, position: position)
  }

  /// Where a frame lies by its arrival alone, had it come as fast as the fastest.
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

  private mutating func reject(at arrival: MonotonicInstant) {
    breaks += 1
    beginning = delays.typical ?? arrival - position
    pace = ArrivalPacer()
    doubt = nil
    stop = ClockStopDetector()
  }

  private mutating func believe(_ entry: Entry, elapsed: Duration) {
    beginning = nil
    anchor = Anchor(time: entry.time, position: position)
    anchoredAt = entry.arrival
    clockPosition = position
    drift = position - elapsed
  }
}
