import Media

/// How video is kept beside audio.
///
/// The offset between the two lines comes from sender reports. Before the first ones it comes from the arrivals: when each
/// line would have begun by its fastest frame of the last half minute. What is found wrong later is corrected by moving
/// video, at a speed that depends on how wrong it is:
///
/// | video is off by | moved by |
/// |---|---|
/// | up to 150 ms | 5 % of speed, not to be seen: 40 ms are left after 2.2 s at most |
/// | up to 500 ms | 25 % of speed, for at most 1.4 s |
/// | more, too early | one jump |
/// | more, too late | half speed, since no frame can be put before the one before it |
extension RecordingTimeline {
  /// Up to this error video is moved by `gentleSpeed`.
  static let gentleError = Duration.milliseconds(150)
  static let gentleSpeed = 0.05
  /// Up to this error video is moved by `quickSpeed`.
  static let quickError = Duration.milliseconds(500)
  static let quickSpeed = 0.25
  /// The most that video is held back with each second, where it is far too late.
  static let brakingSpeed = 0.5

  /// What is known of the offset between the two lines: what video's line is to be shifted by beyond audio's.
  struct Steering: Sendable {
    var reported = OffsetEstimator(gain: 0.25)
    var estimated = OffsetEstimator(gain: 0.125)
    /// The steps of video's delays that the estimate has seen.
    var stepsSeen = 0

    private var usedAudio: ClockReport?
    private var usedVideo: ClockReport?

    var target: Duration? { reported.value ?? estimated.value }

    /// Whether both reports are new since the last pair that was taken.
    mutating func takePair(_ audio: ClockReport?, _ video: ClockReport?) -> Bool {
      if audio == usedAudio || video == usedVideo { return false }
      (usedAudio, usedVideo) = (audio, video)
      return true
    }
  }

  /// Takes a sender report.
  mutating func add(_ report: ClockReport) {
    self[report.codec.kind].report = report
    alignment.reports += 1
    guard let audioShift = audio.shift, let videoShift = video.shift, let offset = reportedOffset else { return }
    let applied = videoShift - audioShift
    let distance = offset - applied
    if distance > TrackTimeline.tolerance || distance < .zero - TrackTimeline.tolerance { return }
    // A report counts once, however often the other track's come meanwhile: a single wrong one must stay single.
    guard steering.takePair(audio.report, video.report) else { return }
    steering.reported.add(offset)
    note(applied: applied, wanted: steering.reported.value ?? offset, by: .senderReports)
  }

  /// The offset by the last reports of both tracks; nil when they do not tell it.
  var reportedOffset: Duration? {
    guard let first = audio.report, let second = video.report else { return nil }
    return ReportPair(audio: first, video: second).offset(audioTimeline: audio.line, videoTimeline: video.line)
  }

  /// The offset between the two lines by the best that is known, noted in `alignment`.
  mutating func measureOffset() -> Duration {
    if let offset = reportedOffset {
      alignment.source = .senderReports
      steering.reported.add(offset)
      return offset
    }
    alignment.source = .arrivals
    alignment.error = max(audio.line.delays.spread, video.line.delays.spread)
    return estimatedOffset ?? .zero
  }

  /// The offset by the fastest frames of the last half minute.
  private var estimatedOffset: Duration? {
    guard let first = audio.line.delays.earliestOfAll, let second = video.line.delays.earliestOfAll else { return nil }
    return second - first
  }

  /// Every 5 s, while no report told: follows the drift of two clocks by the arrivals.
  mutating func steerByArrivals() {
    guard steering.reported.value == nil, video.line.delays.steps > steering.stepsSeen,
      let audioShift = audio.shift, let videoShift = video.shift, let offset = estimatedOffset
    else { return }
    steering.stepsSeen = video.line.delays.steps
    steering.estimated.add(offset)
    note(applied: videoShift - audioShift, wanted: steering.estimated.value ?? offset, by: .arrivals)
  }

  private mutating func note(applied: Duration, wanted: Duration, by source: Alignment.Source) {
    let measured = wanted - applied
    let wrong = measured < .zero ? .zero - measured : measured
    alignment.error = alignment.source == source ? max(alignment.error, wrong) : wrong
    alignment.source = source
  }

  /// Moves video towards where it should be, as far as the time since the last frame allows.
  mutating func moveVideo(to position: Duration) {
    guard let target = steering.target, let audioShift = audio.shift, let shift = video.shift else { return }
    let wanted = audioShift + target - shift
    if wanted == .zero { return }
    let elapsed = min(max(.zero, position - video.lastLine), .seconds(1))
    let moved = Self.step(towards: wanted, in: elapsed)
    video.shift = shift + moved
    alignment.correction += moved
  }

  /// How far of an error is made good while video continues for `elapsed`.
  private static func step(towards wanted: Duration, in elapsed: Duration) -> Duration {
    let size = wanted < .zero ? .zero - wanted : wanted
    if wanted > quickError { return wanted }
    let speed = size > quickError ? brakingSpeed : size > gentleError ? quickSpeed : gentleSpeed
    let most = elapsed * speed
    return min(max(wanted, .zero - most), most)
  }
}

/// How the tracks of a recording were brought into step, and how well.
struct Alignment: Sendable, Hashable {
  /// What told how audio and video belong together.
  enum Source: String, Sendable, Hashable {
    /// There is only one track so far.
    case single
    /// RTCP sender reports of both tracks.
    case senderReports
    /// When the frames came in, because reports were missing.
    case arrivals
  }

  var source = Source.single
  /// How far apart audio and video can have been anywhere in the recording, as far as was measured: the largest difference
  /// between the offset in use and the one that the sender reports told, or the spread of delays while only arrivals told.
  var error = Duration.zero
  /// What later sender reports changed in all, for example to follow a clock that drifts.
  var correction = Duration.zero
  /// Sender reports used.
  var reports = 0
}
