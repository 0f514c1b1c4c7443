import Codecs
import FileSource
import Media

/// The loop of the thread that encodes audio.
struct AudioThread {
  private let run: CameraRun
  private var track: AudioTrack
  private let encoder: LiveAudioEncoder
  private var frameWriter: FrameStreamWriter
  private let split: (Int) -> Int
  private var notice: UndecodableReport

  init(run: CameraRun, plan: CameraPlan, audio: CheckedAudio) throws(InputError) {
    self.run = run
    track = AudioTrack(
      AudioInputTimeline(try audio.open(run.clock), channels: audio.channels, extent: audio.extent, rounds: plan.rounds)
    )
    let hasVideo = plan.hasVideo
    split = { BitrateAllocation(total: min($0, plan.maximumBitrate), hasAudio: true, hasVideo: hasVideo).audio }
    let bitrate = split(plan.maximumBitrate)
    encoder = try coding { () throws(CodecError) in
      try LiveAudioEncoder(channels: audio.channels, owner: plan.owner, bitrate: bitrate)
    }
    frameWriter = run.frameWriter()
    notice = run.notice(.audio)
  }

  /// Plays until the end.
  mutating func play() throws(InputError) {
    defer { notice.end(with: track.undecodable) }
    run.waitForOtherTracks()
    try track.prepare()
    run.waitForOtherTracks()
    run.clock.begin(now: .now)
    while !run.isOver, !frameWriter.isClosed, try step() {}
  }

  /// Encodes what is due, reads ahead, and sleeps until the next deadline.
  ///
  /// - Returns: false at the end.
  private mutating func step() throws(InputError) -> Bool {
    notice.report(track.undecodable)
    let (time, now) = run.update(expectedWakeup: track.deadline)
    if let change = run.takeChange(for: .audio) { try apply(change, now: now) }
    while let due = try track.take(now: time) { try give(due, now: now) }
    try track.prepare()
    if track.isFinished(now: time) { return false }
    guard let deadline = run.clock.instant(of: track.deadline) else { return false }
    run.sleep(.audio, until: deadline)
    return true
  }

  private func apply(_ change: CameraRequests.Change, now: ContinuousClock.Instant) throws(InputError) {
    var estimate = CameraRequests.PathEstimate(bitrate: .max, fractionLost: 0)
    if case .adapt(let one) = change { estimate = one }
    let (encoder, bitrate, lost) = (encoder, split(estimate.bitrate), estimate.fractionLost)
    try coding { () throws(CodecError) in
      try encoder.adapt(toBitrate: bitrate, fractionLost: lost, now: now)
    }
  }

  private mutating func give(_ due: AudioTrack.Due, now: ContinuousClock.Instant) throws(InputError) {
    let ticks = run.clock.shown(due.time) / MediaTimebase.units(perTickOf: .audio)
    let encoder = encoder
    let frames = try coding { () throws(CodecError) in
      try encoder.encode(due.audio, time: ticks, now: now)
    }
    for var frame in frames {
      frame.arrival = run.clock.instant(of: due.time) ?? now
      frameWriter.give(frame)
    }
  }
}
