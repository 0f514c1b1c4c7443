import Codecs
import FileSource
import Media

/// What the thread does that encodes sound.
struct SoundThread {
  private let run: CameraRun
  private var track: SoundTrack
  private let encoder: LiveSoundEncoder
  private var outlet: FrameOutlet
  private let split: (Int) -> Int
  private var notice: LeftOutNotice

  init(run: CameraRun, plan: CameraPlan, sound: CheckedSound) throws(InputRefusal) {
    self.run = run
    track = SoundTrack(
      SoundLine(try sound.open(run.clock), channels: sound.channels, extent: sound.extent, rounds: plan.rounds))
    let hasVideo = plan.pictures != nil
    split = { BitrateSplit(total: min($0, plan.maximumBitrate), hasSound: true, hasVideo: hasVideo).sound }
    let bitrate = split(plan.maximumBitrate)
    encoder = try coding { () throws(CodecFailure) in
      try LiveSoundEncoder(channels: sound.channels, owner: plan.owner, bitrate: bitrate)
    }
    outlet = run.outlet()
    notice = run.notice(.audio)
  }

  /// Plays until it is over.
  mutating func play() throws(InputRefusal) {
    defer { notice.end(with: track.undecodable) }
    try track.prepare()
    run.clock.begin(now: .now)
    while !run.isOver, !outlet.isClosed, try step() {}
  }

  /// Encodes what is due, reads ahead, and sleeps until there is more to do.
  ///
  /// - Returns: false at the end.
  private mutating func step() throws(InputRefusal) -> Bool {
    notice.look(at: track.undecodable)
    let (time, now) = run.look(awaited: track.deadline)
    if let change = run.takeLine(for: .audio) { try follow(change, now: now) }
    while let due = try track.take(now: time) { try give(due, now: now) }
    try track.prepare()
    if track.isFinished(now: time) { return false }
    guard let deadline = run.clock.instant(of: track.deadline) else { return false }
    run.sleep(.audio, until: deadline)
    return true
  }

  private func follow(_ change: CameraRequests.Change, now: ContinuousClock.Instant) throws(InputRefusal) {
    var line = CameraRequests.Line(bitrate: .max, fractionLost: 0)
    if case .follow(let one) = change { line = one }
    let (encoder, bitrate, lost) = (encoder, split(line.bitrate), line.fractionLost)
    try coding { () throws(CodecFailure) in
      try encoder.follow(bitrate: bitrate, fractionLost: lost, now: now)
    }
  }

  private mutating func give(_ due: SoundTrack.Due, now: ContinuousClock.Instant) throws(InputRefusal) {
    let ticks = run.clock.shown(due.time) / FileTime.units(perTickOf: .audio)
    let encoder = encoder
    let frames = try coding { () throws(CodecFailure) in
      try encoder.encode(due.sound, time: ticks, now: now)
    }
    for var frame in frames {
      frame.arrival = run.clock.instant(of: due.time) ?? now
      outlet.give(frame)
    }
  }
}
