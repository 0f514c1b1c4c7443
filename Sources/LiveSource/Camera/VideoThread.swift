import Codecs
import FileSource
import Media

/// The loop of the thread that encodes video.
struct VideoThread {
  private let run: CameraRun
  private var track: VideoTrack
  private let encoder: LiveVideoEncoder
  private var frameWriter: FrameStreamWriter
  private let split: (Int) -> Int
  private var notice: UndecodableReport
  /// The time of the last frame, including pauses, in ticks of 90 kHz.
  private var lastTime: Int64 = -1

  init(run: CameraRun, plan: CameraPlan, video: CheckedVideo) throws(InputError) {
    self.run = run
    let fit = plan.fit ?? VideoScaling(video.size, wanted: nil)
    let timeline = VideoInputTimeline(
      try video.open(run.clock), interval: video.interval, extent: video.extent, rounds: plan.rounds,
      rate: plan.rate)
    track = VideoTrack(timeline, fit: fit)
    let perSecond = plan.rate?.perSecond ?? Double(MediaTimebase.rate) / Double(video.interval)
    let hasAudio = plan.audio != nil
    split = { BitrateAllocation(total: min($0, plan.maximumBitrate), hasAudio: hasAudio, hasVideo: true).video }
    var settings = LiveVideoEncoder.Settings(
      codec: plan.videoCodec, size: fit.target, framesPerSecond: perSecond, owner: plan.owner)
    settings.bitrate = min(settings.bitrate, split(plan.maximumBitrate))
    settings.sizeChange = plan.sizeChange
    settings.keepsEdges = video.isReadByPrograms
    encoder = try coding { () throws(CodecError) in try LiveVideoEncoder(settings) }
    frameWriter = run.frameWriter()
    notice = run.notice(.video)
  }

  private static let minimumSleep: Duration = .milliseconds(1)

  /// Plays until the end.
  mutating func play() throws(InputError) {
    defer { notice.end(with: track.undecodable) }
    run.waitForOtherTracks()
    try track.prepare(now: 0)
    run.waitForOtherTracks()
    run.clock.begin(now: .now)
    while !run.isOver, !frameWriter.isClosed, try step() {}
  }

  /// Encodes what is due, reads ahead, and sleeps until the next deadline.
  ///
  /// - Returns: false at the end.
  private mutating func step() throws(InputError) -> Bool {
    notice.report(track.undecodable)
    guard let expectedWakeup = track.deadline else { return false }
    var (time, now) = run.update(expectedWakeup: expectedWakeup)
    switch run.takeChange(for: .video) {
    case .adapt(let estimate): encoder.adapt(toBitrate: split(estimate.bitrate), now: now)
    case .reset: encoder.reset(now: now)
    case nil: break
    }
    if run.takeKeyframeRequest() { encoder.requestKeyframe(now: now) }
    if let due = try track.take(now: time) {
      try give(due, now: now)
      (time, now) = run.update(expectedWakeup: time)
      try track.prepare(now: time)
    } else if let again = encoder.deadline, again <= now {
      try giveAgain(at: time, now: now)
    }
    if track.isFinished(now: time) { return false }
    guard let deadline = track.deadline.flatMap(run.clock.instant) else { return false }
    // If the encoder returns no frame for a requested keyframe, this thread must not spin.
    let again = encoder.deadline.map { max($0, now + Self.minimumSleep) }
    run.sleep(.video, until: min(deadline, again ?? deadline))
    return true
  }

  private mutating func give(_ due: VideoTrack.Due, now: ContinuousClock.Instant) throws(InputError) {
    let ticks = ticks(run.clock.shown(due.time))
    let encoder = encoder
    let frame = try coding { () throws(CodecError) in
      try encoder.encode(due.videoFrame, time: ticks, now: now)
    }
    guard let frame else { return }
    track.wasSent()
    give(frame, due: run.clock.instant(of: due.time), now: now)
  }

  /// Encodes the current frame again, because a keyframe is needed before the next frame is due.
  private mutating func giveAgain(at time: Int64, now: ContinuousClock.Instant) throws(InputError) {
    let ticks = ticks(run.clock.shown(time))
    let encoder = encoder
    let frame = try coding { () throws(CodecError) in try encoder.encodeAgain(time: ticks, now: now) }
    if let frame { give(frame, due: now, now: now) }
  }

  private mutating func give(_ frame: EncodedFrame, due: ContinuousClock.Instant?, now: ContinuousClock.Instant) {
    var frame = frame
    frame.arrival = due ?? now
    let lost = frameWriter.lostFrames
    frameWriter.give(frame)
    // The consumer was too slow and lost a frame that later frames depend on.
    if frameWriter.lostFrames > lost { encoder.requestKeyframe(now: now) }
  }

  /// Converts a time to ticks of 90 kHz, always greater than the previous result.
  private mutating func ticks(_ time: Int64) -> Int64 {
    let unit = MediaTimebase.units(perTickOf: .video)
    lastTime = max(lastTime + 1, (time + unit / 2) / unit)
    return lastTime
  }
}
