package import Media

/// The alignment of video with audio.
///
/// The offset between the two timelines is taken from sender reports. Before the first ones it is estimated from
/// arrivals: the start of each timeline according to its fastest frame of the last half minute. Later errors are
/// corrected by moving video, at a rate that depends on the error:
///
/// | video is off by | moved by |
/// |---|---|
/// | up to 150 ms | 5 % of speed, which is invisible: 40 ms are left after 2.2 s at most |
/// | up to 500 ms | 25 % of speed, for at most 1.4 s |
/// | more, too early | one jump |
/// | more, too late | half speed, since no frame can be placed before the previous one |
///
/// That is for a wrong first estimate. If audio becomes too early in a call, because its clock stood still, audio
/// continues after a gap (`TrackTimeline`), and video stays.
extension RecordingTimeline {
  /// Up to this error video is moved by `slowRate`.
  static let smallError = Duration.milliseconds(150)
  static let slowRate = 0.05
  /// Up to this error video is moved by `fastRate`.
  static let mediumError = Duration.milliseconds(500)
  static let fastRate = 0.25
  /// The maximum by which video is slowed down each second if it is far too late.
  static let maximumSlowdown = 0.5

  /// Estimates of the A/V offset: the shift to apply to video minus the shift applied to audio.
  struct AVSyncCorrection: Sendable {
    var reported = OffsetEstimator(gain: 0.25)
    var estimated = OffsetEstimator(gain: 0.125)
    /// The number of steps of video's delays that the estimate includes.
    var stepsSeen = 0

    private var usedAudio: ClockReport?
    private var usedVideo: ClockReport?

    var target: Duration? { reported.value ?? estimated.value }

    /// Returns whether both reports are new since the last pair that was used.
    mutating func takePair(_ audio: ClockReport?, _ video: ClockReport?) -> Bool {
      if audio == usedAudio || video == usedVideo { return false }
      (usedAudio, usedVideo) = (audio, video)
      return true
    }
  }

  /// Adds a sender report.
  package mutating func add(_ report: ClockReport) {
    let kind = report.codec.kind
    alignment.reports += 1
    tracks[index(of: kind)].report = report
    tracks[index(of: kind)].timeline.add(report)
    moveAfterStandstill(kind, newFrames: 0)
    useReports()
  }

  /// Returns the lateness of the other track since a track's frames are late; nil if nothing of it has arrived, or if no
  /// frames are late.
  func lateness(besides kind: MediaKind) -> FastestDelay.Excess? {
    guard let since = tracks[index(of: kind)].timeline.lateSince else { return nil }
    return tracks[kind == .audio ? video : audio].timeline.lateness(since: since)
  }

  /// Moves the buffered frames after a standstill of the media clock that was just found.
  ///
  /// - Parameter newFrames: how many of the frames after it are not buffered yet.
  mutating func moveAfterStandstill(_ kind: MediaKind, newFrames: Int) {
    if let slowdown = tracks[index(of: kind)].timeline.takeSlowdown() {
      tracks[kind == .audio ? video : audio].timeline.networkBecameSlower(slowdown)
    }
    guard let found = tracks[index(of: kind)].timeline.takeStandstill() else { return }
    let frames = min(max(0, found.frames - newFrames), tracks[index(of: kind)].framesSinceLeftOut ?? .max)
    let isLate = frames > tracks[index(of: kind)].queue.count
    tracks[index(of: kind)].moveBuffered(frames, by: found.length)
    // Frames that have been released were placed too early.
    if isLate, tracks[audio].shift != nil, tracks[video].shift != nil {
      alignment.error = max(alignment.error, found.length)
    }
  }

  /// Notes by how much frames may be placed too early, if that is not decided within two seconds and reports do not say
  /// it.
  mutating func noteUndecided(_ kind: MediaKind, other: FastestDelay.Excess?, now: MonotonicInstant) {
    guard alignment.source == .arrivals, let other, let lateness = tracks[index(of: kind)].timeline.lateness,
      let since = tracks[index(of: kind)].timeline.lateSince, now - since >= .seconds(2)
    else { return }
    alignment.error = max(alignment.error, lateness - other.least)
  }

  /// Follows the offset according to the last reports.
  mutating func useReports() {
    guard let audioShift = tracks[audio].shift, let videoShift = tracks[video].shift, let offset = reportedOffset else {
      return
    }
    let applied = videoShift - audioShift
    let distance = offset - applied
    if distance > TrackTimeline.tolerance || distance < .zero - TrackTimeline.tolerance { return }
    // A report counts once, even if several reports of the other track arrive meanwhile, so that a single wrong one has
    // no effect.
    guard syncCorrection.takePair(tracks[audio].report, tracks[video].report) else { return }
    syncCorrection.reported.add(offset)
    note(applied: applied, wanted: syncCorrection.reported.value ?? offset, by: .senderReports)
  }

  /// The offset according to the last reports of both tracks; nil when they do not determine it.
  var reportedOffset: Duration? {
    guard let first = tracks[audio].report, let second = tracks[video].report,
      !tracks[audio].timeline.hasUnconfirmedReport,
      !tracks[video].timeline.hasUnconfirmedReport
    else { return nil }
    return ReportPair(first: first, second: second).offset(tracks[audio].timeline, tracks[video].timeline)
  }

  /// Returns the best known offset between the two timelines, and notes its source in `alignment`.
  mutating func measureOffset() -> Duration {
    if let offset = reportedOffset {
      alignment.source = .senderReports
      syncCorrection.reported.add(offset)
      return offset
    }
    alignment.source = .arrivals
    alignment.error = max(tracks[audio].timeline.delays.spread, tracks[video].timeline.delays.spread)
    return estimatedOffset ?? .zero
  }

  /// The offset according to the fastest frames of the last half minute.
  private var estimatedOffset: Duration? {
    guard let first = tracks[audio].timeline.delays.earliestOfAll,
      let second = tracks[video].timeline.delays.earliestOfAll
    else {
      return nil
    }
    return second - first
  }

  /// Follows the drift of two clocks by the arrivals, every 5 s, while there is no usable report.
  mutating func correctByArrivals() {
    guard syncCorrection.reported.value == nil, tracks[video].timeline.delays.steps > syncCorrection.stepsSeen,
      let audioShift = tracks[audio].shift, let videoShift = tracks[video].shift, let offset = estimatedOffset
    else { return }
    syncCorrection.stepsSeen = tracks[video].timeline.delays.steps
    syncCorrection.estimated.add(offset)
    note(applied: videoShift - audioShift, wanted: syncCorrection.estimated.value ?? offset, by: .arrivals)
  }

  private mutating func note(applied: Duration, wanted: Duration, by source: Alignment.Source) {
    let measured = wanted - applied
    let wrong = measured < .zero ? .zero - measured : measured
    alignment.error = alignment.source == source ? max(alignment.error, wrong) : wrong
    alignment.source = source
  }

  /// Moves video towards its correct position, as far as the time since the last frame allows.
  mutating func moveVideo(to position: Duration) {
    guard let target = syncCorrection.target, let audioShift = tracks[audio].shift, let shift = tracks[video].shift
    else { return }
    let wanted = audioShift + target - shift
    if wanted == .zero { return }
    let elapsed = min(max(.zero, position - tracks[video].lastTimelinePosition), .seconds(1))
    let moved = Self.step(towards: wanted, in: elapsed)
    tracks[video].shift = shift + moved
    alignment.correction += moved
  }

  /// Returns how much of an error is corrected while video advances by `elapsed`.
  private static func step(towards wanted: Duration, in elapsed: Duration) -> Duration {
    let size = wanted < .zero ? .zero - wanted : wanted
    if wanted > mediumError { return wanted }
    let rate = size > mediumError ? maximumSlowdown : size > smallError ? fastRate : slowRate
    let most = elapsed * rate
    return min(max(wanted, .zero - most), most)
  }
}

/// How the tracks of a recording were synchronised, and how accurately.
package struct Alignment: Sendable, Hashable {
  /// The source of the offset between audio and video.
  package enum Source: String, Sendable, Hashable {
    /// There is only one track so far.
    case single
    /// RTCP sender reports of both tracks.
    case senderReports
    /// The arrival times of frames, because reports were missing.
    case arrivals
  }

  package var source = Source.single
  /// The maximum distance between audio and video anywhere in the recording, as far as it was measured: the largest
  /// difference between the offset in use and the offset according to sender reports, or the spread of delays while
  /// only arrivals were known.
  package var error = Duration.zero
  /// The sum of later corrections, for example to follow a clock that drifts.
  package var correction = Duration.zero
  /// Sender reports used.
  package var reports = 0

  package init() {}
}

/// The last sender reports of two tracks of one sender; together they determine the offset between two timelines.
struct ReportPair: Sendable {
  /// Reports whose arrivals and wall clocks differ by more than this were not written by one clock.
  private static let maximumDisagreement = Duration.seconds(1)
  /// Reports that are further apart are not accurate: a clock that runs 200 ppm fast gains 12 ms in that time.
  private static let maximumDistance = Duration.seconds(60)

  var first: ClockReport
  var second: ClockReport

  /// The time from the first report to the second one by the sender's wall clock; nil when they do not fit each other.
  var elapsed: Duration? {
    guard first.ntp != 0, second.ntp != 0 else { return nil }
    let elapsed = ClockReading(second).wallClock(since: ClockReading(first))
    let distance = second.arrived - first.arrived
    if distance > Self.maximumDistance || distance < .zero - Self.maximumDistance { return nil }
    let disagreement = elapsed - distance
    let limit = Self.maximumDisagreement
    if disagreement > limit || disagreement < .zero - limit { return nil }
    return elapsed
  }

  /// Returns the offset to add to a position on the second timeline to get the position of the same moment at the sender
  /// on the first one; nil when the reports do not fit the timelines or each other.
  func offset(_ firstTimeline: TrackTimeline, _ secondTimeline: TrackTimeline) -> Duration? {
    guard let elapsed, let firstPosition = firstTimeline.position(of: first),
      let secondPosition = secondTimeline.position(of: second)
    else { return nil }
    return firstPosition + elapsed - secondPosition
  }
}

/// Filters a sequence of measurements of one offset: it ignores a single wrong one, smooths jitter, follows a slow
/// drift, and adopts a lasting step at once.
struct OffsetEstimator: Sendable {
  /// A difference larger than the jitter of sender reports.
  static let step = Duration.milliseconds(40)

  private let gain: Double
  private var recent: [Duration] = []
  private var differing = 0
  /// The offset; nil before the first measurement.
  private(set) var value: Duration?

  /// - Parameter gain: the weight of a new measurement.
  init(gain: Double) {
    self.gain = gain
  }

  mutating func add(_ offset: Duration) {
    if recent.count == 3 { recent.removeFirst() }
    recent.append(offset)
    guard let value, recent.count > 1 else {
      self.value = offset
      return
    }
    let middle = recent.count == 3 ? recent.sorted()[1] : value
    let difference = middle - value
    if difference > Self.step || difference < .zero - Self.step {
      differing += 1
      if differing >= 2 {
        self.value = middle
        differing = 0
      }
    } else {
      differing = 0
      self.value = value + difference * gain
    }
  }
}
