import Codecs
import Media
import NIOCore
import Pattern

/// Judges one peer: receives its events in order, and reports the result at any time.
struct PeerJudge {
  let id: ParticipantID
  private let wallClock: Double?
  private(set) var notes = Diagnosis.Notes()
  var counter = ConnectionCounter()
  var video: VideoJudge
  var audio = AudioJudge()
  var buckets: BucketedTimeline
  var numbers = FrameNumberTracker()
  var picturesRead = 0
  var returns = ReturnedFrameTracker()
  var skew = SkewEstimator()
  var videoDelays = Samples()
  var audioDelays = Samples()
  private(set) var skippedFrames: SkippedFramesReport?
  var data: DataReport?
  private(set) var messages: [MessageReport] = []
  private(set) var furtherMessages = 0
  var videoBytes = 0
  var audioBytes = 0
  /// When the last frame of each track could be seen or heard: a frame waits for earlier ones.
  var lastShown: [MediaKind: Double] = [:]
  /// Until when media continued that is no longer available.
  var unavailableMediaEnd: [MediaKind: Double] = [:]
  /// The newest timestamp of the pattern's frames, in seconds, and when it was read.
  private var lastContent: (content: Double, at: Double)?

  /// Longer delays, in seconds, come from a pattern that was recorded earlier.
  private static let maximumDelay = 3_600.0

  /// Creates the judge of a peer.
  ///
  /// - Parameters:
  ///   - wallClock: seconds since 1970 at the check's start; nil if not known.
  ///   - step: the step of the timeline, in seconds.
  init(id: ParticipantID, wallClock: Double?, step: Double, thumbnails: Int) {
    self.id = id
    self.wallClock = wallClock
    video = VideoJudge(thumbnails: thumbnails)
    buckets = BucketedTimeline(step: step)
  }

  // MARK: Events

  mutating func receive(_ message: MessageReport) {
    if messages.count < MessageReport.maximumCount { messages.append(message) } else { furtherMessages += 1 }
  }

  /// Records that a section was rejected; what is reported later of the same section replaces it.
  mutating func receive(_ section: RejectedSection) {
    notes.rejected.removeAll { $0.section == section.index }
    if notes.rejected.count < Self.maximumRejections { notes.rejected.append(RejectionReport(section)) }
  }

  /// Far more sections than any call has.
  private static let maximumRejections = 16

  mutating func step(_ step: CallStep, at time: Double) {
    func first(_ position: WritableKeyPath<CallSteps, Double?>) {
      notes.steps[keyPath: position] = notes.steps[keyPath: position] ?? roundedForReport(time)
    }
    if case .departed(let cause, let sentence) = step {
      notes.departure = notes.departure ?? .init(time: roundedForReport(time), cause: cause, sentence: sentence)
      video.release()
      return
    }
    switch step {
    case .appeared:
      // A peer that rejoins is present again.
      notes.departure = nil
    case .offerSent: first(\.offerSent)
    case .offerReceived: first(\.offerReceived)
    case .answerSent: first(\.answerSent)
    case .answerReceived: first(\.answerReceived)
    case .localCandidate(let kind):
      first(\.firstLocalCandidate)
      notes.steps.localCandidates[kind.rawValue, default: 0] += 1
    case .remoteCandidate(let kind):
      first(\.firstRemoteCandidate)
      notes.steps.remoteCandidates[kind.rawValue, default: 0] += 1
    case .checksBegun: first(\.checksBegun)
    case .checkAnswered: first(\.firstCheckAnswered)
    case .iceConnected: first(\.iceConnected)
    case .dtlsConnected:
      first(\.iceConnected)
      first(\.dtlsConnected)
    case .firstPacket: first(\.firstPacket)
    case .departed: break
    }
    // Whichever step happens first, the call had begun by then.
    first(\.seen)
  }

  mutating func receive(_ report: ClockReport, arrived: Double) { skew.receive(report, arrived: arrived) }

  mutating func receive(_ sample: ConnectionSample, at time: Double) {
    let change = counter.receive(sample, at: time)
    buckets[time].packets += Double(change.packets)
    buckets[time].missing += Double(change.missing)
    buckets[time].keyframeRequests += Int(min(change.keyframeRequests, 1_000))
    if let bitrate = change.sentBitrate { buckets[time].sentBitrate.add(bitrate) }
    if let target = sample.targetBitrate { buckets[time].targetBitrate.add(Double(target)) }
    notes.unreachableReason = sample.unreachableReason
    if sample.checksSent > 0 { step(.checksBegun, at: time) }
    if sample.checksAnswered > 0 { step(.checkAnswered, at: time) }
  }

  /// Records a frame of the pattern that we sent.
  mutating func sent(_ videoFrame: SentFrame, size: VideoSize) {
    returns.sent(videoFrame)
    video.learn(size)
  }

  mutating func receive(_ frame: EncodedFrame, arrived: Double, sent: SentFrames) {
    let kind = frame.codec.kind
    let shown = max(arrived, lastShown[kind] ?? arrived)
    lastShown[kind] = shown
    // A peer that sends again is present again.
    if let departure = notes.departure, arrived > departure.time { notes.departure = nil }
    notes.steps.firstPacket = min(notes.steps.firstPacket ?? .infinity, roundedForReport(arrived))
    let bytes = frame.payload.readableBytes
    switch kind {
    case .video:
      videoBytes += bytes
      buckets[shown].videoBytes += bytes
      if frame.isKeyframe { buckets[shown].keyframes += 1 }
      takeVideoFrame(frame, shown: shown, arrived: arrived, sent: sent)
    case .audio:
      audioBytes += bytes
      buckets[shown].audioBytes += bytes
      takeAudio(frame, heard: shown, arrived: arrived)
    }
  }

  /// Records that media of a kind continued until a time although it is no longer available.
  mutating func mediaContinued(_ kind: MediaKind, until time: Double) {
    unavailableMediaEnd[kind] = max(time, unavailableMediaEnd[kind] ?? time)
  }

  /// Records skipped frames. Measurements that need no decoding still count them.
  mutating func receive(_ videoFrames: SkippedFrames, first: Double, last: Double) {
    lastShown[.video] = max(last, lastShown[.video] ?? last)
    if let departure = notes.departure, last > departure.time { notes.departure = nil }
    notes.steps.firstPacket = min(notes.steps.firstPacket ?? .infinity, roundedForReport(first))
    videoBytes += videoFrames.bytes
    buckets.addVideo(bytes: videoFrames.bytes, from: first, to: last)
    buckets[last].keyframes += videoFrames.keyframes
    video.skip(keyframes: videoFrames.keyframes)
    let before = skippedFrames
    skippedFrames = SkippedFramesReport(
      videoFrames: (before?.videoFrames ?? 0) + videoFrames.count,
      first: min(before?.first ?? .infinity, roundedForReport(first)),
      last: max(before?.last ?? 0, roundedForReport(last)))
  }

  private mutating func takeVideoFrame(_ frame: EncodedFrame, shown: Double, arrived: Double, sent: SentFrames) {
    let outcome = video.receive(frame, at: shown)
    notes.hasUndecodable = video.decodeErrors > 0
    notes.waitsForKeyframe = video.beforeKeyframe > 0
    guard outcome.isSeen else { return }
    buckets[shown].frames += 1
    notes.steps.firstFrame = notes.steps.firstFrame ?? roundedForReport(shown)
    if let freeze = outcome.freeze { buckets.addFrozen(start: freeze.start, duration: freeze.duration) }
    let content = outcome.reading.flatMap { note($0, at: shown, sent: sent) }
    let found = skew.videoFrame(.init(heard: shown, arrived: arrived, time: frame.time, content: content))
    for skew in found { buckets[skew.time].skew.add(skew.skew) }
    if video.hasUndecidedWaits { video.settle(at: shown, by: skew.clock) }
  }

  /// Accounts for a frame of the pattern.
  ///
  /// - Returns: the frame's timestamp in seconds; nil if the same frame was seen before, because a repeated frame has
  ///   no delay.
  private mutating func note(_ reading: PatternReading, at time: Double, sent: SentFrames) -> Double? {
    picturesRead += 1
    let classification = numbers.add(reading)
    returns.received(reading, at: time, sent: sent)
    if classification == .doubled { return nil }
    let content = Double(reading.time) / 1_000
    lastContent = (content, time)
    if let delay = delay(of: content, at: time) {
      videoDelays.add(delay)
      buckets[time].videoDelay.add(delay)
    }
    return content
  }

  private mutating func takeAudio(_ frame: EncodedFrame, heard: Double, arrived: Double) {
    let outcome = audio.receive(frame, heard: heard, arrived: arrived)
    guard let energy = outcome.energy else {
      notes.hasUndecodable = true
      return
    }
    notes.steps.firstSound = notes.steps.firstSound ?? roundedForReport(heard)
    buckets[heard].energy.add(energy)
    for mark in outcome.marks { note(mark) }
    let found = skew.audio(.init(heard: heard, arrived: arrived, time: frame.time, content: nil))
    for skew in found { buckets[skew.time].skew.add(skew.skew) }
    if audio.hasUndecidedWaits { audio.settle(at: heard, by: skew.clock) }
  }

  mutating func note(_ mark: AudioJudge.Mark) {
    guard let content = second(of: mark) else { return }
    if let delay = delay(of: content, at: mark.heard) {
      audioDelays.add(delay)
      buckets[mark.heard].audioDelay.add(delay)
    }
    skew.mark(.init(heard: mark.heard, arrived: mark.arrived, time: mark.time, content: content))
  }

  /// Returns the second since 1970 that a mark encodes: of all seconds with the same remainder, the one nearest to the
  /// timestamps of the frames, or else to our clock.
  private func second(of mark: AudioJudge.Mark) -> Double? {
    let near = lastContent.map { $0.content + mark.heard - $0.at } ?? wallClock.map { $0 + mark.heard }
    guard let near, abs(near) < 1e12 else { return nil }
    let whole = Int64(near.rounded(.down))
    let rest = (Int64(mark.second) - whole % 256 + 512) % 256
    return Double(whole + (rest < 128 ? rest : rest - 256))
  }

  private func delay(of content: Double, at time: Double) -> Double? {
    guard let wallClock else { return nil }
    let delay = wallClock + time - content
    return abs(delay) < Self.maximumDelay ? delay : nil
  }
}
