import Codecs
import Media
import MediaWorker
import NIOCore
import Pattern

/// Judges one stream of a peer: its video, its audio, and how they fit together.
struct StreamJudge {
  let number: Int
  private let wallClock: Double?
  /// What the peer's description says of the stream; nil if it says nothing.
  private(set) var description: MediaStream?
  var counter = PacketCounter()
  /// Whether keyframe requests were counted at their times.
  private(set) var countsKeyframeRequests = false
  var video: VideoJudge
  var audio: AudioJudge
  var buckets: BucketedTimeline
  var numbers = FrameNumberTracker()
  var framesRead = 0
  var returns = ReturnedFrameTracker()
  var skew = SkewEstimator()
  var videoDelays = Samples()
  var audioDelays = Samples()
  private(set) var skippedFrames: SkippedFramesReport?
  var videoBytes = 0
  var audioBytes = 0
  /// When the first frame and the first audio packet were decoded.
  private(set) var firstFrame: Double?
  private(set) var firstSound: Double?
  /// When the first frame or audio packet arrived that no process decodes.
  private(set) var firstUnverified: Double?
  /// Whether frames arrived that could not be decoded.
  private(set) var hasUndecodable = false
  /// When the last frame of each track could be seen or heard: a frame waits for earlier ones.
  private var lastShown: [MediaKind: Double] = [:]
  /// Until when media continued that is no longer available.
  var unavailableMediaEnd: [MediaKind: Double] = [:]
  /// Whether the tracks lasted until the end of the media; otherwise each ended with its own last packet.
  var knowsEnd = true
  /// When a further stream ended: its description no longer had any track, or the peer departed. Nil while it continues, and
  /// always for the first stream, which a peer also puts on hold: then it is frozen or silent.
  private(set) var ended: Double?
  /// The codecs of its tracks.
  private(set) var codecs: [MediaKind: CodecLog] = [.audio: CodecLog(), .video: CodecLog()]
  /// When its tracks were there.
  private(set) var presence: [MediaKind: TrackPresence] = [.audio: TrackPresence(), .video: TrackPresence()]
  /// The newest timestamp of the pattern's frames, in seconds, and when it was read.
  private var lastContent: (content: Double, at: Double)?

  /// Longer delays, in seconds, come from a pattern that was recorded earlier.
  private static let maximumDelay = 3_600.0
  /// For how long, in seconds, media still arrives that was sent before the description that ends the stream.
  private static let maximumTimeInFlight = 1.0
  /// A stream that is described again and whose last media is not older than this, in seconds, has not ended: a renegotiation left
  /// it out for a moment.
  private static let maximumOmission = 0.5

  /// Creates the judge of a stream.
  ///
  /// - Parameters:
  ///   - wallClock: seconds since 1970 at the check's start; nil if not known.
  ///   - step: the step of the timeline, in seconds.
  ///   - worker: decodes for the peer what is not decoded in this process.
  init(number: Int, wallClock: Double?, step: Double, thumbnails: Int, worker: MediaWorker) {
    self.number = number
    self.wallClock = wallClock
    video = VideoJudge(thumbnails: thumbnails, worker: worker)
    audio = AudioJudge(worker: worker)
    buckets = BucketedTimeline(step: step)
  }

  /// Releases the decoders of a peer that is gone.
  mutating func release() {
    video.release()
    audio.release()
  }

  /// Whether any of its media was decoded.
  var hasMedia: Bool { firstFrame != nil || firstSound != nil }

  /// Whether anything is known of it.
  var exists: Bool { description != nil || !lastShown.isEmpty || !counter.isEmpty }

  /// When the last media arrived; nil if none did.
  var lastMedia: Double? {
    let reported = [lastShown[.video], audio.heardEnd ?? lastShown[.audio]].compactMap { $0 }
    return (reported + unavailableMediaEnd.values).max()
  }

  /// Returns when a track ended.
  ///
  /// - Parameter end: when the stream's media ended.
  func end(of kind: MediaKind, until end: Double) -> Double {
    if knowsEnd { return end }
    let last = kind == .audio ? audio.heardEnd ?? lastShown[kind] : lastShown[kind]
    return last.map { min(end, $0) } ?? end
  }

  // MARK: Events

  /// Records what the peer's description says of the stream. A further stream without tracks has ended, until media arrives
  /// again.
  mutating func receive(_ description: MediaStream, at time: Double) {
    self.description = description
    if description.tracks.isEmpty {
      end(at: time)
    } else if let lastMedia, time - lastMedia <= Self.maximumOmission {
      ended = nil
    }
  }

  /// Records that a further stream has ended, until media arrives again.
  mutating func end(at time: Double) {
    if number > 1 { ended = ended ?? time }
  }

  /// Records that media arrives. After the stream has ended, it is judged as a new one: the time between is not measured.
  private mutating func mediaArrives(at time: Double) {
    guard let end = ended else { return }
    if description?.tracks.isEmpty == true {
      // It ends with its last media.
      ended = max(end, time)
      guard time > end + Self.maximumTimeInFlight else { return }
    } else {
      guard time > end else { return }
      ended = nil
    }
    if presence.values.contains(where: \.isFull) { return }
    let last = max(end, lastMedia ?? end)
    finish(until: last)
    numbers.end()
    returns.end(at: last)
    for kind in MediaKind.allCases { presence[kind]?.ended(at: last) }
  }

  /// Records that the recording of it was paused from a time on. What follows is judged as a new stream: the time between is not
  /// measured.
  mutating func recordingPaused(at time: Double) {
    guard lastMedia != nil, !presence.values.contains(where: \.isFull) else { return }
    finish(until: time)
    numbers.end()
    returns.end(at: time)
    for kind in MediaKind.allCases { presence[kind]?.ended(at: time) }
  }

  mutating func receive(_ report: ClockReport, arrived: Double) { skew.receive(report, arrived: arrived) }

  /// Records the counters of the stream's tracks.
  ///
  /// - Parameter timing: which of them belong to the time since the previous sample.
  mutating func receive(
    _ counts: [MediaKind: TrackStatistics], _ timing: ConnectionSample.Timing, at time: Double
  ) {
    let change = counter.receive(counts)
    if timing == .none { return }
    buckets[time].packets += Double(change.packets)
    buckets[time].missing += Double(change.missing)
    guard timing == .all else { return }
    buckets[time].keyframeRequests += Int(min(change.keyframeRequests, 1_000))
    countsKeyframeRequests = true
  }

  /// Records a frame of the pattern that we sent in our stream of the same number.
  mutating func sent(_ videoFrame: SentFrame, size: VideoSize) {
    returns.sent(videoFrame)
    video.learn(size)
  }

  mutating func receive(_ frame: EncodedFrame, arrived: Double, sent: SentFrames) {
    let kind = frame.codec.kind
    mediaArrives(at: arrived)
    let shown = max(arrived, lastShown[kind] ?? arrived)
    lastShown[kind] = shown
    presence[kind]?.arrived(at: shown)
    codecs[kind]?.receive(frame, at: arrived)
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

  /// Records skipped frames. Measurements that need no decoding still count them.
  mutating func receive(_ videoFrames: SkippedFrames, first: Double, last: Double) {
    mediaArrives(at: first)
    presence[.video]?.arrived(at: first)
    lastShown[.video] = max(last, lastShown[.video] ?? last)
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
    let outcomes = video.receive(frame, at: shown, arrived: arrived)
    hasUndecodable = hasUndecodable || video.decodeErrors > 0
    if video.unverified > 0 { firstUnverified = firstUnverified ?? roundedForReport(shown) }
    for outcome in outcomes { take(outcome, sent: sent) }
  }

  /// Judges the frames that the decoder keeps: no media follows.
  mutating func endMedia() {
    guard let last = lastShown[.video] else { return }
    for outcome in video.drain(at: last) { take(outcome, sent: SentFrames()) }
  }

  /// Accounts for a frame that can be seen.
  private mutating func take(_ outcome: VideoJudge.Outcome, sent: SentFrames) {
    let shown = outcome.seen
    buckets[shown].frames += 1
    firstFrame = firstFrame ?? roundedForReport(shown)
    presence[.video]?.decoded(at: shown)
    if let freeze = outcome.freeze { buckets.addFrozen(start: freeze.start, duration: freeze.duration) }
    let content = outcome.reading.flatMap { note($0, at: shown, sent: sent) }
    let found = skew.videoFrame(
      .init(heard: shown, arrived: outcome.arrived, time: outcome.frame.time, content: content))
    for skew in found { buckets[skew.time].skew.add(skew.skew) }
    if video.hasUndecidedWaits { video.settle(at: shown, by: skew.clock) }
  }

  /// Accounts for a frame of the pattern.
  ///
  /// - Returns: the frame's timestamp in seconds; nil if the same frame was seen before, because a repeated frame has
  ///   no delay.
  private mutating func note(_ reading: PatternReading, at time: Double, sent: SentFrames) -> Double? {
    framesRead += 1
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
    hasUndecodable = hasUndecodable || audio.decodeErrors > 0
    if audio.unverified > 0 { firstUnverified = firstUnverified ?? roundedForReport(heard) }
    guard let energy = outcome.energy else { return }
    firstSound = firstSound ?? roundedForReport(heard)
    presence[.audio]?.decoded(at: heard)
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
