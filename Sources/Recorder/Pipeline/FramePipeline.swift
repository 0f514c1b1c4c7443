import Bitstream
import Codecs
import Media

/// What becomes of a participant's frames before they reach a file: the gate (only what can be decoded), the repair of lost
/// audio, the check (decode it), the timeline (place it) and the counts for the manifest.
final class FramePipeline {
  private var gate = VideoGate()
  private var audioGate = AudioGate()
  private var budget = AudioBudget()
  private var repair = LossConcealment()
  private let check: FrameVerifier?
  private var timeline: RecordingTimeline
  private var tallies = PerMediaKind<TrackCounter>()
  private var statistics: [MediaKind: CumulativeTrackStatistics] = [:]
  private var ending = TrackEnd()

  /// When the first frame came that can be recorded; nil before.
  private(set) var firstArrival: MonotonicInstant?
  /// When the last frame or sender report came.
  private var lastSign: MonotonicInstant?

  /// - Parameter verification: where frames are decoded to verify them; nil if frames are not verified.
  init(hold: Duration, verification: VerificationPool?) {
    check = verification.map(FrameVerifier.init)
    timeline = RecordingTimeline(hold: hold)
  }

  /// Takes what the participant's media brought.
  ///
  /// - Parameter leftOut: how many of the frames that its gap reports were skipped because memory was full.
  func receive(_ event: MediaEvent, leftOut: Int = 0, now: MonotonicInstant) {
    switch event {
    case .frame(let frame):
      lastSign = max(lastSign ?? frame.arrived, frame.arrived)
      ending.note(frame, leftOut: leftOut)
      switch frame.codec {
      case .vp8: takeVideoFrame(frame, now: now)
      case .opus: takeAudio(frame, now: now)
      }
    case .clock(let report):
      lastSign = max(lastSign ?? report.arrived, report.arrived)
      timeline.add(report)
    case .recovering(let kind): timeline.recovering(kind, now: now)
    case .statistics(let kind, let counts): statistics[kind, default: .init()].update(counts)
    }
  }

  /// Nothing more will come.
  ///
  /// - Parameter leftOut: what was skipped because memory was full, and no frame told of.
  func end(leftOut: [MediaKind: DroppedFrameRun] = [:]) { ending.end(leftOut: leftOut) }

  /// Gives the frames whose places are settled, in order of position and within a track in decoding order.
  ///
  /// - Parameter everything: whether nothing may stay behind, as at the end.
  func release(now: MonotonicInstant, everything: Bool = false) -> [TimestampedFrame] {
    let timestamped = timeline.release(now: now, everything: everything)
    for frame in timestamped { count(frame) }
    return timestamped
  }

  private func takeVideoFrame(_ frame: EncodedFrame, now: MonotonicInstant) {
    guard let frame = gate.admit(frame) else { return }
    pass(frame, now: now)
  }

  private func takeAudio(_ frame: EncodedFrame, now: MonotonicInstant) {
    guard let (frame, shape) = audioGate.admit(frame, budget: &budget) else { return }
    for piece in repair.take(frame, shape: shape, limit: budget.room) {
      let length = Duration(opusTicks: Int64(piece.ticks))
      budget.spend(length)
      pass(piece.frame, length: length, repair: piece.kind, now: now)
    }
    pass(frame, length: Duration(opusTicks: Int64(shape.duration)), now: now)
  }

  private func pass(
    _ frame: EncodedFrame, length: Duration? = nil, repair: FrameRepair? = nil, now: MonotonicInstant
  ) {
    check?.examine(frame, now: now)
    firstArrival = firstArrival ?? frame.arrived
    timeline.add(frame, length: length, repair: repair, now: now)
  }

  private func count(_ timestamped: TimestampedFrame) {
    let codec = timestamped.frame.codec
    if tallies[codec.kind] == nil { tallies[codec.kind] = TrackCounter(codec: codec) }
    switch codec {
    case .vp8: tallies.video?.count(timestamped)
    case .opus:
      guard let opus = timestamped.frame.opus else { return }
      tallies.audio?.count(
        timestamped, channels: opus.channels, length: Duration(opusTicks: Int64(opus.duration)),
        isSilent: opus.isSilence)
    }
  }
}

/// What is known so far.
extension FramePipeline {
  /// When position zero would have arrived with the least delay seen; nil until the first frames are placed. It can become
  /// some milliseconds earlier within the first 10 s.
  var origin: MonotonicInstant? { timeline.origin }
  /// The tracks that were there when the first frames were placed.
  var firstTracks: Set<MediaKind> { timeline.firstTracks }
  /// From the first frame to the end of the last one whose place is settled.
  var duration: Duration { max(tallies.audio?.end ?? .zero, tallies.video?.end ?? .zero) }
  /// Where a call ended that is over now.
  ///
  /// A sender of silence (DTX) sends a packet every 400 ms at most. Who was heard of within the last second and then left, or
  /// was left, was in the call until now; of anybody else nothing is known after the end of their last frame.
  func callEnd(_ reason: RecordingEndReason, now: MonotonicInstant) -> Duration {
    guard let origin, let lastSign else { return duration }
    let wasThere = (reason == .left || reason == .stopped) && now - lastSign <= .seconds(1)
    return wasThere ? max(duration, now - origin) : min(duration, now - origin + .seconds(1))
  }
  /// Frames whose places are settled, by track.
  var frames: [MediaKind: UInt64] { tallies.mapValues(\.frames) }
  /// Bytes of the frames that wait for their places.
  var heldBytes: Int { timeline.heldBytes }
  /// Frames that did not decode; nil when nothing is verified.
  var decodeErrors: UInt64? { check.map { $0.counts.errors.values.reduce(0, +) } }
  /// Whether everything that is to be verified has been.
  var isVerified: Bool { check?.isIdle ?? true }

  /// What has not been verified will not be.
  func endVerification() { check?.giveUp() }

  /// How the tracks were aligned, for the manifest.
  var alignment: RecordingManifest.Alignment {
    var entry = RecordingManifest.Alignment()
    entry.source = timeline.alignment.source.rawValue
    entry.error = timeline.alignment.error.roundedSeconds
    entry.correction = timeline.alignment.correction.roundedSeconds
    entry.reports = timeline.alignment.reports
    return entry
  }

  /// The tracks' entries for the manifest.
  ///
  /// - Parameters:
  ///   - written: what of each track is in files; nil for all that is placed.
  ///   - isHeldUp: whether the rest is not on its way there, but held up by the disk.
  func tracks(
    clock: WallClock, written: [MediaKind: WrittenFrameCounts]? = nil, isHeldUp: Bool = false
  ) -> [RecordingManifest.Track] {
    MediaKind.allCases.compactMap { kind in
      track(kind, clock: clock, written: written.map { $0[kind] ?? .init() }, isHeldUp: isHeldUp)
    }
  }

  private func track(
    _ kind: MediaKind, clock: WallClock, written: WrittenFrameCounts?, isHeldUp: Bool
  ) -> RecordingManifest.Track? {
    guard let counter = tallies[kind] else { return nil }
    let rejection = kind == .video ? gate.openGap : audioGate.openGap
    var lastGaps = ending.gaps(
      of: kind, rejection: rejection, statistics: statistics[kind]?.total, packetsInGaps: counter.packetsInGaps)
    let leftOut = lastGaps.firstIndex { [.diskStalled, .overloaded].contains($0.reason) }.map {
      lastGaps.remove(at: $0)
    }
    let leftOutUntil = origin.flatMap { origin in ending.leftOutUntil(kind).map { $0 - origin } }
    var track = counter.entry(
      written: written, lastGaps: lastGaps, leftOut: leftOut, leftOutUntil: leftOutUntil, isHeldUp: isHeldUp)
    track.timestampBreaks = timeline.breaks(of: kind)
    track.refused = kind == .video ? gate.refused : audioGate.refused
    let verified = check?.counts
    track.decodeErrors = verified.map { $0.errors[kind] ?? 0 }
    track.unverified = verified.map { $0.unverified[kind] ?? 0 }
    track.firstDecoded = verified?.firstDecoded[kind].map(clock.text)
    if kind == .video, let size = verified?.lastSize {
      track.lastDecodedSize = .init(time: track.start + track.duration, width: size.width, height: size.height)
    }
    if kind == .audio {
      track.repairedByFEC = repair.corrected
      track.concealed = repair.concealed
    }
    if let counts = statistics[kind] { track.take(counts.total) }
    return track
  }
}
