import Bitstream
import Codecs
package import Media

/// The path of a stream's frames before they reach a file: validators admit only what can be decoded, lost audio
/// is concealed, frames are decoded to verify them, the timeline assigns positions, and counters collect data for the
/// manifest.
package final class FramePipeline {
  private var videoValidator = VideoFrameValidator()
  private var audioValidator = AudioPacketValidator()
  private var budget = AudioBudget()
  private var repair = LossConcealment()
  private let check: FrameVerifier?
  private let frameRecorded: (@Sendable (EncodedFrame) -> Void)?
  private(set) var timeline: RecordingTimeline
  private var counters = PerMediaKind<TrackCounter>()
  private var statistics: [MediaKind: CumulativeTrackStatistics] = [:]
  private var trailingGaps = TrailingGaps()
  private var streamEnd = StreamEndTracker()
  private var gate = PauseGate()
  /// The newest time that the pipeline was given.
  private var newest: MonotonicInstant?
  /// Whether the last video frame was left out because it followed a pause and was no keyframe.
  private(set) var lacksKeyframeAfterPause = false

  /// When the first frame arrived that can be recorded; nil before.
  private(set) var firstArrival: MonotonicInstant?
  /// When the last frame or sender report arrived.
  private var lastActivity: MonotonicInstant?

  /// - Parameters:
  ///   - verifier: decodes frames to verify them; nil if frames are not verified.
  ///   - frameRecorded: called with each received frame that is recorded.
  package init(
    alignmentDelay: Duration, verifier: FrameVerifier?, frameRecorded: (@Sendable (EncodedFrame) -> Void)? = nil
  ) {
    check = verifier
    self.frameRecorded = frameRecorded
    timeline = RecordingTimeline(alignmentDelay: alignmentDelay)
  }

  /// Processes a media event of the stream.
  ///
  /// - Parameter dropped: how many of the frames that the frame's gap reports were dropped because memory was full.
  package func receive(_ event: MediaEvent, dropped: Int = 0, now: MonotonicInstant) {
    switch event {
    case .frame(let frame):
      lastActivity = max(lastActivity ?? frame.arrived, frame.arrived)
      trailingGaps.note(frame, dropped: dropped)
      switch frame.codec.kind {
      case .video: takeVideoFrame(frame, now: now)
      case .audio: takeAudio(frame, now: now)
      }
    case .clock(let report):
      lastActivity = max(lastActivity ?? report.arrived, report.arrived)
      timeline.add(report)
    case .recovering(let track):
      timeline.recovering(track.kind, now: now)
      gate.recovering(track.kind, now: now)
    case .statistics(let track, let counts): statistics[track.kind, default: .init()].update(counts)
    case .described(let stream): streamEnd.described(stream, now: now)
    }
  }

  /// Ends the tracks: no events follow.
  ///
  /// - Parameter dropped: frames that were dropped because memory was full, and that no later frame reported.
  package func end(dropped: [MediaKind: DroppedFrameRun] = [:]) { trailingGaps.end(dropped: dropped) }

  /// Returns the frames whose positions are final, in order of position, and in decoding order within a track.
  ///
  /// - Parameter everything: whether to return all frames, as at the end.
  package func release(now: MonotonicInstant, everything: Bool = false) -> [TimestampedFrame] {
    newest = max(newest ?? now, now)
    let timestamped = timeline.release(now: now, everything: everything)
    for frame in timestamped { count(frame) }
    return timestamped
  }

  /// Takes over when the participant is paused.
  func setPauses(_ intervals: PauseIntervals, now: MonotonicInstant) {
    newest = max(newest ?? now, now)
    gate.set(intervals)
  }

  /// Ends the wait for sender reports, because memory is short.
  func endAlignment(now: MonotonicInstant) { timeline.endAlignment(now: now) }

  private func takeVideoFrame(_ frame: EncodedFrame, now: MonotonicInstant) {
    var pause: PauseSpan?
    var moment: FrameMoment?
    if gate.concerns(.video, at: frame.arrived) {
      moment = self.moment(of: frame, length: nil)
      guard let moment, case .record(let span) = gate.judge(frame, moment: moment, length: .zero) else {
        return leaveOut(frame, isUsable: frame.header.video != nil, length: nil, now: now)
      }
      pause = span
      // It would depend on frames of the pause.
      if pause != nil { videoValidator.requireKeyframe() }
    }
    let admitted = videoValidator.admit(frame)
    lacksKeyframeAfterPause = pause != nil && admitted == nil
    guard var frame = admitted else { return }
    frame.gap = streamEnd.gap(before: frame)
    pass(frame, pause: pause, now: now)
    if pause != nil, let moment { gate.recorded(.video, at: moment) }
  }

  private func takeAudio(_ frame: EncodedFrame, now: MonotonicInstant) {
    var pause: PauseSpan?
    var moment: FrameMoment?
    if gate.concerns(.audio, at: frame.arrived) {
      let length = frame.header.audio?.duration
      moment = self.moment(of: frame, length: length)
      guard let moment, case .record(let span) = gate.judge(frame, moment: moment, length: length ?? .zero) else {
        return leaveOut(frame, isUsable: length != nil, length: length, now: now)
      }
      pause = span
    }
    guard case (var frame, let header)? = audioValidator.admit(frame, budget: &budget) else { return }
    frame.gap = streamEnd.gap(before: frame)
    if pause != nil {
      // Nothing of the pause is rebuilt.
      repair.forget()
    }
    // Lost packets of other codecs are not concealed: a player plays silence in the gap.
    if let shape = header.opus {
      for piece in repair.take(frame, shape: shape, limit: budget.room) {
        let length = Duration(opusTicks: Int64(piece.ticks))
        budget.spend(length)
        pass(piece.frame, length: length, repair: piece.kind, now: now)
      }
    } else {
      repair.forget()
    }
    pass(frame, length: header.duration, pause: pause, now: now)
    if pause != nil, let moment { gate.recorded(.audio, at: moment) }
  }

  private func pass(
    _ frame: EncodedFrame, length: Duration? = nil, repair: FrameRepair? = nil, pause: PauseSpan? = nil,
    now: MonotonicInstant
  ) {
    check?.examine(frame, now: now)
    if repair == nil { frameRecorded?(frame) }
    firstArrival = firstArrival ?? frame.arrived
    timeline.add(frame, length: length, repair: repair, pause: pause, now: now)
  }

  /// When a frame was sent; nil if nothing of it can be from before a pause that lasts.
  private func moment(of frame: EncodedFrame, length: Duration?) -> FrameMoment? {
    gate.isWithin(frame.arrived) ? nil : timeline.moment(of: frame, length: length)
  }

  /// Leaves out a frame of a pause, of which only the clock is followed.
  ///
  /// - Parameter isUsable: whether it is a frame of its codec.
  private func leaveOut(_ frame: EncodedFrame, isUsable: Bool, length: Duration?, now: MonotonicInstant) {
    switch frame.codec.kind {
    case .video:
      lacksKeyframeAfterPause = false
      gate.leaveOut(frame, before: videoValidator.takeOpenGap())
      videoValidator.requireKeyframe()
    case .audio:
      gate.leaveOut(frame, before: audioValidator.takeOpenGap())
      repair.forget()
    }
    _ = streamEnd.gap(before: frame)
    if isUsable { timeline.leaveOut(frame, length: length, now: now) }
  }

  private func count(_ timestamped: TimestampedFrame) {
    let codec = timestamped.frame.codec
    switch codec.kind {
    case .video:
      if counters.video == nil { counters.video = TrackCounter(codec: codec) }
      counters.video?.count(timestamped)
    case .audio:
      if counters.audio == nil { counters.audio = TrackCounter(codec: codec) }
      guard let audio = timestamped.frame.header.audio else { return }
      counters.audio?.count(
        timestamped, channels: audio.channels, length: audio.duration, isSilent: audio.isSilent)
    }
  }
}

/// The current state.
extension FramePipeline {
  /// The estimated arrival time of position zero, assuming the smallest delay seen so far; nil until the first frames
  /// have positions. It can become some milliseconds earlier within the first 10 s.
  var origin: MonotonicInstant? { timeline.origin }
  /// The tracks that existed when the first frames got their positions.
  var firstTracks: Set<MediaKind> { timeline.firstTracks }
  /// From the first frame to the end of the last one whose position is final.
  var duration: Duration { max(counters.audio?.end ?? .zero, counters.video?.end ?? .zero) }
  /// Returns the position at which a call that is over now ended.
  ///
  /// A sender in DTX sends a packet at least every 400 ms. A participant who sent something within the last second, and
  /// then left or was recorded until we stopped, was in the call until now; otherwise nothing is known after the end of
  /// the last frame.
  func callEnd(_ reason: RecordingEndReason, now: MonotonicInstant) -> Duration {
    guard let origin, let lastActivity else { return duration }
    if gate.isPaused { return min(duration, now - origin + .seconds(1)) }
    let wasThere = (reason == .left || reason == .stopped) && now - lastActivity <= .seconds(1)
    return wasThere ? max(duration, now - origin) : min(duration, now - origin + .seconds(1))
  }
  /// Whether nothing is recorded at the moment.
  var isPaused: Bool { gate.isPaused }
  /// Frames whose positions are final, by track.
  var frames: [MediaKind: UInt64] { counters.mapValues(\.frames) }
  /// Bytes of the frames that wait for their positions.
  var heldBytes: Int { timeline.heldBytes }
  /// Frames that could not be decoded; nil when frames are not verified.
  var decodeErrors: UInt64? { check.map { $0.counts.errors.values.reduce(0, +) } }
  /// Frames that were not decoded; nil when frames are not verified.
  var unverified: UInt64? { check.map { $0.counts.unverified.values.reduce(0, +) } }
  /// The root mean square of the last packet of audio that was verified, from 0 to 1; nil if none was.
  var audioLevel: Double? { check?.counts.audioLevel }
  /// Whether video is not decoded up to its next keyframe, because the process that decoded it has ended.
  var verificationLacksKeyframe: Bool { check?.lacksKeyframe ?? false }
  /// Whether all frames submitted for verification have been processed.
  var isVerified: Bool { check?.isIdle ?? true }

  /// The codec of a track's last admitted frame; nil before the first.
  func codec(of kind: MediaKind) -> Codec? { change(of: kind).codec }

  /// Whether frames are rejected because the codec of their track changed shortly before.
  var rejectsCodec: Bool { videoValidator.change.rejected != nil || audioValidator.change.rejected != nil }

  /// The codec of frames that are rejected because the codec of their track changed shortly before; nil while there are none.
  func rejectedCodec(of kind: MediaKind) -> Codec? { change(of: kind).rejected }

  /// Whether video is rejected of which the next keyframe will be admitted.
  func lacksKeyframe(now: MonotonicInstant) -> Bool { videoValidator.change.isOver(now: now) }

  private func change(of kind: MediaKind) -> CodecChangeLimit {
    switch kind {
    case .video: videoValidator.change
    case .audio: audioValidator.change
    }
  }

  /// Stops verification: frames that were not decoded stay unverified.
  func endVerification() { check?.giveUp() }

  /// How the tracks were synchronised, for the manifest.
  var alignment: RecordingManifest.Alignment {
    var entry = RecordingManifest.Alignment()
    entry.source = timeline.alignment.source.rawValue
    entry.error = timeline.alignment.error.roundedSeconds
    entry.correction = timeline.alignment.correction.roundedSeconds
    entry.reports = timeline.alignment.reports
    return entry
  }

  /// Returns the tracks' entries for the manifest.
  ///
  /// - Parameters:
  ///   - written: the frames of each track that are in files; nil for all frames with a position.
  ///   - isHeldUp: whether the disk blocks the rest, rather than the rest being on its way into the files.
  package func tracks(
    clock: WallClock, written: [MediaKind: WrittenFrameCounts]? = nil, isHeldUp: Bool = false
  ) -> [RecordingManifest.Track] {
    MediaKind.allCases.compactMap { kind in
      track(kind, clock: clock, written: written.map { $0[kind] ?? .init() }, isHeldUp: isHeldUp)
    }
  }

  private func track(
    _ kind: MediaKind, clock: WallClock, written: WrittenFrameCounts?, isHeldUp: Bool
  ) -> RecordingManifest.Track? {
    guard let counter = counters[kind] else { return nil }
    let rejection = kind == .video ? videoValidator.openGap : audioValidator.openGap
    let pause = newest.flatMap { gate.trailing(kind, now: $0) }
    var lastGaps = trailingGaps.gaps(
      of: kind, rejection: rejection, statistics: statistics[kind]?.total,
      packetsInGaps: counter.packetsInGaps &+ UInt64(clamping: pause?.lost.packetsLost ?? 0))
    let dropped = lastGaps.firstIndex { $0.reason.isOfRecorder }.map { lastGaps.remove(at: $0) }
    let droppedUntil = origin.flatMap { origin in trailingGaps.droppedUntil(kind).map { $0 - origin } }
    let zero = timeline.zero ?? origin
    let lastPause = pause.flatMap { pause in
      zero.map { (gap: pause.lost, start: pause.start - $0, end: pause.end - $0) }
    }
    var track = counter.entry(
      written: written, lastGaps: lastGaps, lastPause: lastPause, dropped: dropped, droppedUntil: droppedUntil,
      isHeldUp: isHeldUp)
    track.timestampBreaks = timeline.breaks(of: kind)
    track.refused = kind == .video ? videoValidator.refused : audioValidator.refused
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
