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
/// timeline follows a slow drift, as between two quartz clocks. Neither that drift nor frames that arrive late count as a
/// jump.
///
/// Some senders stop their clock while they send nothing: the clock of a microphone that is switched off and on
/// continues where it stopped. Sender reports say for how long (`ReportedClock`); until the next one arrives, the
/// arrivals do (`StandstillDetector`). Both must agree: no report makes a track longer than its arrivals, and arrivals
/// that are late by the network's fault change nothing. Positions that are already in use stay, so the timeline
/// continues after a gap as soon as the standstill is known.
///
/// A frame that is shown before an earlier one (`Entry.isReordered`) says nothing about the clock: it is placed between its
/// neighbours.
struct TrackTimeline: Sendable {
  /// The maximum difference between media time and arrivals: more than any delay of a retransmitted packet.
  static let tolerance = Duration.seconds(5)
  /// How much faster or slower than ours a sender's clock may run permanently: 1,000 ppm.
  static let maximumDrift = 0.001
  /// How far the clock may be ahead of the fastest frames of the last half minute, after 10 s of frames: a frame can
  /// arrive late, but not before it was sent.
  static let maximumLead = Duration.milliseconds(600)
  /// A step of the clock that differs from the step of the arrivals by more than this is a jump.
  static let maximumJump = Duration.seconds(1)
  /// The inaccuracy of sender reports: a standstill that is shorter is not noticed by them.
  static let reportError = Duration.milliseconds(30)
  /// How long after the first frame that followed a standstill a report may arrive that was sent before it.
  static let reportDisorder = Duration.milliseconds(150)
  /// How many frames, or for how long, are waited for to confirm a report of a standstill.
  static let confirmingFrames = 10
  /// The share of a reported standstill by which frames must be late.
  static let confirmingShare = 0.75
  static let confirmingTime = Duration.milliseconds(500)

  /// How much the arrival of the first frame of another codec may differ from the end of the last one: jitter.
  static let maximumClockChange = Duration.milliseconds(100)

  /// The properties of a frame that determine its position.
  struct Entry: Sendable {
    var time: MediaTime
    var arrival: MonotonicInstant
    /// The playing time of an audio packet; nil for video.
    var length: Duration?
    /// Whether no packet between it and the previous frame was lost.
    var follows = true
    /// Whether the recorder generated it, so that its arrival says nothing.
    var isGenerated = false
    /// Whether it is shown before an earlier frame.
    var isReordered = false
    /// Whether others may be shown before it.
    var mayReorder = false
  }

  /// A standstill of the media clock that has been found.
  struct Standstill: Sendable, Hashable {
    /// How many of the last frames are after it.
    var frames: Int
    /// Its length, by which they must move later.
    var length: Duration
  }

  /// A lateness of frames that a report has shown to be the network's.
  struct Slowdown: Sendable, Hashable {
    var length: Duration
    var since: MonotonicInstant
  }

  struct Anchor: Sendable {
    var time: MediaTime
    var position: Duration
  }

  /// A report that shows a standstill, which frames have not confirmed.
  struct Unconfirmed: Sendable {
    var report: ClockReading
    var frames = 0
  }

  /// A report that applies to the timeline.
  struct NotedReport: Sendable {
    var report: ClockReading
    var position: Duration
  }

  var start: MonotonicInstant?
  var last: Entry?
  var anchor: Anchor?
  /// The base of a new clock sequence, if the last outlier was its first timestamp.
  private var candidateAnchor: Anchor?
  /// The position of the last frame that the clock determined.
  var clockPosition = Duration.zero
  /// How far the timeline has run ahead of the arrivals since the start, followed slowly.
  var drift = Duration.zero
  private var judge = ClockValidator()
  private var pace = ArrivalPacer()
  var fastest = FastestDelay()
  var detector = StandstillDetector()
  var reported = ReportedClock()
  var unconfirmed: Unconfirmed?
  /// The last report that applies to the timeline, with its position.
  var lastReport: NotedReport?
  /// A report that arrived before the first frame.
  var earlyReport: ClockReading?
  /// When the clock's base was changed; earlier reports do not apply to it.
  var anchoredAt: MonotonicInstant?
  /// The caller fetches it after each frame and report.
  var found: Standstill?
  /// By how much a report has shown that the network became slower, and since when.
  var slowdown: Slowdown?
  /// When position zero would have arrived; set while arrivals determine the positions.
  private var beginning: MonotonicInstant?
  /// The last frames of a codec that reorders them, by media time since the first one.
  var recent = RecentPositions()
  private var firstTime: MediaTime?
  /// Whether the arrival of a frame is being compared that has no position yet.
  var isComparing = false

  /// The start of the timeline according to the frames' delays.
  var delays = DelayRange()
  /// The position of the last frame.
  var position = Duration.zero
  /// How often the timeline had to continue from the arrivals.
  var breaks = 0

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

  /// Returns the position of the next frame in decoding order; never before that of the previous frame, unless it is reordered.
  ///
  /// - Parameter other: the lateness of the other track since `lateSince`; nil if nothing of it arrived.
  mutating func offset(_ entry: Entry, other: FastestDelay.Excess? = nil) -> Duration {
    let start = self.start ?? entry.arrival
    self.start = start
    if entry.isReordered, let reordered = reorderedPosition(entry) { return reordered }
    if let last, last.time.rate != entry.time.rate {
      changeClock(to: entry, after: last)
    } else if let last {
      advance(to: entry, after: last, elapsed: entry.arrival - start, other: other)
    } else {
      begin(entry)
    }
    // How late undecided frames are says nothing about the network yet.
    if detector.late == nil {
      delays.add(arrival: entry.arrival, position: position)
    } else {
      delays.postpone(arrival: entry.arrival, position: position)
    }
    last = entry
    if entry.mayReorder { note(entry.time, at: position) }
    return position
  }

  /// Returns the position of a frame that is shown before an earlier one; nil if it is not.
  private mutating func reorderedPosition(_ entry: Entry) -> Duration? {
    guard let last, let firstTime, last.time.rate == entry.time.rate else { return nil }
    let candidate = isTrusted ? anchor.map { $0.position + entry.time.duration(since: $0.time) } : nil
    guard let position = recent.position(at: entry.time.duration(since: firstTime), candidate: candidate) else {
      return nil
    }
    detector.addGenerated()
    note(entry.time, at: position)
    return position
  }

  private mutating func note(_ time: MediaTime, at position: Duration) {
    if firstTime?.rate != time.rate {
      firstTime = time
      recent.removeAll()
    }
    if let firstTime { recent.add(time.duration(since: firstTime), at: position) }
  }

  /// Whether the last frames may have to move later, so that they should not be released yet.
  func isUndecided(now: MonotonicInstant) -> Bool {
    guard last?.length != nil, let late = detector.late else { return false }
    return now - late.since < StandstillDetector.hold
  }

  /// Since when all frames have been late, for a reason that is not known yet; nil if they are not.
  var lateSince: MonotonicInstant? { detector.late?.since }

  /// By how much the present frames are late at least, for a reason that is not known yet; nil if they are not.
  var lateness: Duration? { detector.late?.least }

  /// Returns the lateness of the frames since an instant; nil if there were none.
  func lateness(since instant: MonotonicInstant) -> FastestDelay.Excess? {
    isTrusted ? fastest.excess(since: instant) : nil
  }

  /// Returns, once, the standstill that the last frame or report has shown.
  mutating func takeStandstill() -> Standstill? {
    defer { found = nil }
    return found
  }

  // MARK: One step

  private mutating func begin(_ entry: Entry) {
    anchor = Anchor(time: entry.time, position: .zero)
    _ = fastest.add(.zero, at: entry.arrival)
    if let report = earlyReport { add(report) }
    earlyReport = nil
  }

  private mutating func advance(
    to entry: Entry, after last: Entry, elapsed: Duration, other: FastestDelay.Excess?
  ) {
    guard let anchor else { return }
    let step = entry.time.duration(since: last.time)
    let arrivalStep = entry.arrival - last.arrival
    let candidate = anchor.position + entry.time.duration(since: anchor.time)
    let surprise = candidate - elapsed - drift
    let excess = step - arrivalStep
    // After a pause in the arrivals, frames may be as late as it was long.
    let pause = .zero - excess > StandstillDetector.longPause ? .zero - excess : .zero
    let allowance = max(detector.allowance, pause)
    let isOutside =
      surprise > Self.tolerance || surprise < .zero - Self.tolerance - allowance
      || isAhead(candidate, at: entry.arrival)
    let isSudden = excess > Self.maximumJump || excess < .zero - Self.maximumJump
    let isOutlier =
      isTrusted
      ? candidate <= clockPosition || isOutside
      : step <= .zero || isSudden
    let result = judge.take(
      .init(media: step, arrival: arrivalStep, length: last.length, follows: entry.follows, isOutlier: isOutlier),
      // That they are late after a pause is not the clock's fault.
      surprise: isTrusted && allowance < Self.maximumJump ? surprise : .zero)
    if !isTrusted {
      positionByArrival(entry, after: last, step: arrivalStep)
      if result == .right { switchToMediaClock(entry, elapsed: elapsed) }
    } else if result == .wrong || (isOutside && !isSudden && candidateAnchor == nil && candidate > clockPosition) {
      switchToArrivals(at: entry.arrival)
      positionByArrival(entry, after: last, step: arrivalStep)
    } else if isOutlier {
      positionOutlier(entry)
    } else {
      candidateAnchor = nil
      clockPosition = candidate
      if candidate > position { position = candidate }
      if entry.isGenerated { return detector.addGenerated() }
      compareArrival(of: entry, delay: elapsed - candidate, pause: .zero - excess, other: other)
      if detector.late == nil { adjustDrift(surprise, step: arrivalStep) }
    }
  }

  private mutating func adjustDrift(_ surprise: Duration, step: Duration) {
    if step <= .zero { return }
    let most = step * Self.maximumDrift
    drift += min(max(surprise, .zero - most), most)
  }

  /// Whether a position is ahead of what the fastest frames of the last half minute allow, after 10 s of frames.
  private func isAhead(_ position: Duration, at arrival: MonotonicInstant) -> Bool {
    delays.steps > 2 && position - arrivalPosition(arrival) > Self.maximumLead
  }

  // MARK: Outliers

  private mutating func positionOutlier(_ entry: Entry) {
    if let candidateAnchor {
      let continued = candidateAnchor.position + entry.time.duration(since: candidateAnchor.time)
      let excess = continued - arrivalPosition(entry.arrival)
      if continued > candidateAnchor.position, excess <= Self.maximumLead / 2, excess >= .zero - Self.maximumJump {
        changeAnchor(candidateAnchor, since: last?.arrival)
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

  private mutating func changeAnchor(_ anchor: Anchor, since: MonotonicInstant?) {
    self.anchor = anchor
    anchoredAt = since
    forgetClock()
  }

  /// Forgets everything about the media clock: its positions have another origin.
  private mutating func forgetClock() {
    fastest = FastestDelay()
    detector.end()
    reported = ReportedClock()
    unconfirmed = nil
    lastReport = nil
  }

  /// Continues with another clock, since the codec changed: at the end of the last frame, if the arrival confirms that, and else by
  /// the arrival.
  private mutating func changeClock(to entry: Entry, after last: Entry) {
    let continued = position + (last.length ?? .zero)
    let byArrival = arrivalPosition(entry.arrival)
    let isContinuous =
      byArrival - continued < Self.maximumClockChange && continued - byArrival < Self.maximumClockChange
    position = max(position, isContinuous ? continued : byArrival)
    candidateAnchor = nil
    changeAnchor(Anchor(time: entry.time, position: position), since: entry.arrival)
    clockPosition = position
  }

  // MARK: By arrivals

  private mutating func positionByArrival(_ entry: Entry, after last: Entry, step: Duration) {
    guard let beginning else { return }
    position = pace.next(after: position, target: entry.arrival - beginning, step: step, length: last.length)
  }

  private mutating func switchToArrivals(at arrival: MonotonicInstant) {
    breaks += 1
    beginning = delays.typical ?? arrival - position
    pace = ArrivalPacer()
    candidateAnchor = nil
    forgetClock()
  }

  private mutating func switchToMediaClock(_ entry: Entry, elapsed: Duration) {
    beginning = nil
    changeAnchor(Anchor(time: entry.time, position: position), since: entry.arrival)
    clockPosition = position
    drift = position - elapsed
  }
}
