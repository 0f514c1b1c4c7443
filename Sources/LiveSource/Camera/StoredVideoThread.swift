import FileSource
import Media

/// The loop of the thread that sends video as stored.
struct StoredVideoThread {
  private let run: CameraRun
  private let owner: ParticipantID
  private let codec: Codec
  private var track: StoredVideoTrack
  private var frameWriter: FrameStreamWriter

  init(run: CameraRun, plan: CameraPlan, video: StoredVideoPlan) throws(InputError) {
    self.run = run
    owner = plan.owner
    codec = video.codec
    track = try StoredVideoTrack(video, rounds: plan.rounds)
    frameWriter = run.frameWriter()
  }

  /// Plays until the end.
  mutating func play() throws(InputError) {
    run.waitForOtherTracks()
    try track.prepare()
    run.waitForOtherTracks()
    run.clock.begin(now: .now)
    while !run.isOver, !frameWriter.isClosed, try step() {}
  }

  /// Sends what is due, reads ahead, and sleeps until the next deadline.
  ///
  /// - Returns: false at the end.
  private mutating func step() throws(InputError) -> Bool {
    let (time, now) = run.update(expectedWakeup: track.deadline)
    // The keyframes and the bitrate of a file are fixed.
    _ = run.takeKeyframeRequest()
    _ = run.takeChange(for: .video)
    while let frame = try track.take(now: time) { give(frame, now: now) }
    if track.isFinished(now: time) { return false }
    guard let deadline = run.clock.instant(of: track.deadline) else { return false }
    run.sleep(.video, until: deadline)
    return true
  }

  private mutating func give(_ frame: FileFrame, now: ContinuousClock.Instant) {
    let unit = MediaTimebase.units(perTickOf: .video)
    let ticks = (run.clock.shown(frame.time) + unit / 2) / unit
    frameWriter.give(
      EncodedFrame(
        owner: owner, codec: codec, time: MediaTime(ticks: ticks, rate: codec.clockRate), payload: frame.payload,
        header: frame.header, isKeyframe: frame.isKeyframe, size: frame.size,
        arrived: MonotonicInstant(run.clock.instant(of: frame.time) ?? now)))
  }
}
