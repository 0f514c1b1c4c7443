import Codecs
import Media

/// The results of a peer.
extension PeerJudge {
  /// Returns the peer's state for a live display.
  func status(at time: Double) -> CheckStatus.Peer {
    let recent = (1...max(1, Int(1 / buckets.step))).map { buckets[max(0, time - Double($0) * buckets.step)] }
    let length = Double(recent.count) * buckets.step
    let energy = recent.reduce(into: BucketedTimeline.Mean()) { $0 += $1.energy }
    let fps = Double(recent.reduce(0) { $0 + $1.frames }) / length
    return CheckStatus.Peer(
      id: id.text, reached: Diagnosis.progress(notes.steps), progress: Diagnosis.sentence(notes),
      isGone: notes.departure != nil,
      fps: roundedForReport(min(fps, video.frameRateEstimator.fastest ?? .infinity)),
      bitrate: roundedForReport(Double(recent.reduce(0) { $0 + $1.videoBytes + $1.audioBytes } * 8) / length),
      level: energy.value.map { roundedForReport(decibels(amplitude: $0.squareRoot())) })
  }

  /// Returns the interval in which media arrived; nil if none did.
  func presence(until end: Double) -> ClosedRange<Double>? {
    let steps = notes.steps
    guard let first = [steps.firstFrame, steps.firstSound].compactMap({ $0 }).min() else { return nil }
    return first...max(first, self.end(until: end))
  }

  /// Returns when the peer's media ended: with its last frame if the peer has left.
  private func end(until end: Double) -> Double {
    guard let departure = notes.departure else { return end }
    let reported = [lastShown[.video], audio.heardEnd ?? lastShown[.audio]].compactMap { $0 }
    let last = (reported + unavailableMediaEnd.values).max()
    return min(end, departure.time, last ?? departure.time)
  }

  /// Returns all measurements as if the media ended now. The check can continue afterwards.
  func report(until checkEnd: Double) -> PeerReport {
    var judge = self
    return judge.finish(until: checkEnd)
  }

  private mutating func finish(until checkEnd: Double) -> PeerReport {
    let end = end(until: checkEnd)
    if let freeze = video.end(at: end, clock: skew.clock) {
      buckets.addFrozen(start: freeze.start, duration: freeze.duration)
    }
    if let unavailableEnd = unavailableMediaEnd[.audio] { audio.markMissing(until: min(end, unavailableEnd)) }
    for mark in audio.end(at: end, clock: skew.clock) { note(mark) }
    for skew in skew.finish() { buckets[skew.time].skew.add(skew.skew) }
    let steps = notes.steps
    let seen = steps.firstFrame.map { $0...max($0, end) }
    let heard = steps.firstSound.map { $0...max($0, end) }
    let departed = notes.departure.map { $0.cause != .closedByUs } ?? false
    return PeerReport(
      id: id.text, reached: Diagnosis.progress(steps), progress: Diagnosis.sentence(notes), steps: steps,
      departure: notes.departure, absent: departed ? roundedForReport(max(0, checkEnd - end)) : 0,
      connection: counter.report,
      video: seen.map(videoReport), audio: heard.map(audioReport), undecoded: undecoded,
      rejected: notes.rejected.isEmpty ? nil : notes.rejected, skew: skew.report,
      pattern: patternReport,
      returned: returns.report(end: end), data: data,
      messages: messages.isEmpty ? nil : messages, furtherMessages: furtherMessages == 0 ? nil : furtherMessages,
      timeline: buckets.timeline(end: checkEnd, video: seen, audio: heard, fastest: video.frameRateEstimator.fastest),
      skippedFrames: skippedFrames,
      thumbnails: video.thumbnails.chosen)
  }

  /// The kinds of media that arrived and could not be decoded.
  private var undecoded: [String]? {
    var kinds: [MediaKind] = []
    if audioBytes > 0, notes.steps.firstSound == nil { kinds.append(.audio) }
    if videoBytes > 0, notes.steps.firstFrame == nil, skippedFrames == nil { kinds.append(.video) }
    return kinds.isEmpty ? nil : kinds.map(\.rawValue)
  }

  private func videoReport(_ range: ClosedRange<Double>) -> VideoReport {
    let duration = range.upperBound - range.lowerBound
    // Rates refer to the time in which the frames were produced, which may have begun before the first one arrived.
    let (made, surplus) = (duration + video.frameRateEstimator.preJoinDuration, video.frameRateEstimator.surplus)
    func rate(_ count: Double) -> Double { made > 0 ? roundedForReport(max(0, count) / made) : 0 }
    return VideoReport(
      start: roundedForReport(range.lowerBound), duration: roundedForReport(duration), frames: video.decoded,
      fps: rate(Double(video.decoded) - surplus.videoFrames),
      fpsMinimum: buckets.fewestFrames(in: range, most: video.frameRateEstimator.fastest),
      bitrate: rate(8 * (Double(videoBytes) - surplus.bytes)), keyframes: video.keyframes,
      decodeErrors: video.decodeErrors, framesBeforeKeyframe: video.beforeKeyframe, sizes: video.sizes,
      sizeChanges: video.sizeChanges, brightness: roundedForReport(video.meanBrightness),
      freezes: video.freezes.intervals(of: duration), black: video.blackIntervals.intervals(of: duration),
      frozen: video.frozen.intervals(of: duration))
  }

  private func audioReport(_ range: ClosedRange<Double>) -> AudioReport {
    let duration = range.upperBound - range.lowerBound
    return AudioReport(
      start: roundedForReport(range.lowerBound), duration: roundedForReport(duration), packets: audio.decoded,
      bitrate: duration > 0 ? roundedForReport(Double(audioBytes * 8) / duration) : 0, channels: audio.channels,
      decodeErrors: audio.decodeErrors, level: roundedForReport(audio.meter.level),
      peak: roundedForReport(audio.meter.peak),
      concealed: roundedForReport(audio.concealed), silence: audio.meter.silences(of: duration),
      clipped: audio.meter.clipped(of: duration), gaps: audio.gaps.intervals(of: duration))
  }

  private var patternReport: PatternReport? {
    guard picturesRead > 0 || audio.marksFound > 0 else { return nil }
    return PatternReport(
      streamID: Int(numbers.streamID), picturesRead: picturesRead, picturesUnreadable: video.unreadable,
      numbersPainted: numbers.numbersPainted, missing: numbers.numbersPainted - numbers.numbersSeen,
      doubled: numbers.doubled, reordered: numbers.reordered, restarts: numbers.restarts, marksFound: audio.marksFound,
      marksExpected: audio.marksExpected, videoDelay: videoDelays.spread, audioDelay: audioDelays.spread,
      quality: video.quality)
  }
}
