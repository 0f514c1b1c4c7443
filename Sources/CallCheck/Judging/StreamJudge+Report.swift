import Codecs
import Media

/// The results of a stream.
extension StreamJudge {
  /// Returns all measurements as if the media ended now. The check can continue afterwards.
  ///
  /// - Parameters:
  ///   - end: when the peer's media ended.
  ///   - checkEnd: the end of the check.
  ///   - step: the step of the first stream's timeline, which that of a further stream has as well.
  func report(until end: Double, checkEnd: Double, alignedTo step: Double? = nil) -> StreamReport {
    var judge = self
    let end = ended.map { min(end, max($0, lastMedia ?? $0)) } ?? end
    judge.finish(until: end)
    if let step { judge.buckets.align(toStep: step) }
    let ends = [MediaKind.video, .audio].map { self.end(of: $0, until: end) }
    return judge.finished(video: ends[0], audio: ends[1], until: end, checkEnd: checkEnd)
  }

  /// Ends all measurements. If media follows, they continue with it.
  mutating func finish(until end: Double) {
    let soundEnd = self.end(of: .audio, until: end)
    if let freeze = video.end(at: self.end(of: .video, until: end), clock: skew.clock) {
      buckets.addFrozen(start: freeze.start, duration: freeze.duration)
    }
    if let unavailableEnd = unavailableMediaEnd[.audio] { audio.markMissing(until: min(end, unavailableEnd)) }
    for mark in audio.end(at: soundEnd, clock: skew.clock) { note(mark) }
    for skew in skew.finish() { buckets[skew.time].skew.add(skew.skew) }
  }

  /// - Parameters:
  ///   - videoEnd: when the video ended.
  ///   - audioEnd: when the audio ended.
  private func finished(
    video videoEnd: Double, audio audioEnd: Double, until end: Double, checkEnd: Double
  ) -> StreamReport {
    let seen = presence[.video]?.intervals(until: videoEnd) ?? []
    let heard = presence[.audio]?.intervals(until: audioEnd) ?? []
    return StreamReport(
      number: number, id: description?.id, content: description?.content, firstFrame: firstFrame,
      firstSound: firstSound,
      received: .init(audio: counter.report(of: .audio), video: counter.report(of: .video)),
      codecs: usedCodecs, video: videoReport(seen), audio: audioReport(heard), undecoded: undecoded,
      undecodedReason: undecodedReason, skew: skew.report,
      pattern: patternReport, returned: returns.report(end: end),
      timeline: buckets.timeline(
        end: checkEnd, video: seen, audio: heard, fastest: video.frameRateEstimator.fastest,
        countsKeyframeRequests: countsKeyframeRequests),
      skippedFrames: skippedFrames, unverified: unverified, thumbnails: video.thumbnails.chosen)
  }

  /// The codecs of both tracks; nil if no frame arrived.
  private var usedCodecs: TrackCodecs? {
    let (audio, video) = (codecs[.audio]?.entries ?? [], codecs[.video]?.entries ?? [])
    if audio.isEmpty, video.isEmpty { return nil }
    return TrackCodecs(audio: audio.isEmpty ? nil : audio, video: video.isEmpty ? nil : video)
  }

  /// The kinds of media that arrived and could not be decoded.
  private var undecoded: [String]? {
    var kinds: [MediaKind] = []
    if audioBytes > 0, firstSound == nil, audio.unverified == 0 { kinds.append(.audio) }
    if videoBytes > 0, firstFrame == nil, skippedFrames == nil, video.unverified == 0 { kinds.append(.video) }
    return kinds.isEmpty ? nil : kinds.map(\.rawValue)
  }

  /// What was not decoded, because no process decodes it; nil if there is none.
  var unverified: UnverifiedReport? {
    guard let reason = video.unverifiedReason ?? audio.unverifiedReason else { return nil }
    return UnverifiedReport(videoFrames: video.unverified, audioPackets: audio.unverified, reason: reason)
  }

  /// Why no video could be decoded, or no audio if video could be, as a clause.
  private var undecodedReason: String? {
    guard let undecoded else { return nil }
    return undecoded.contains(MediaKind.video.rawValue) ? video.decodeFailure : audio.decodeFailure
  }

  /// - Parameter intervals: when the track was there.
  private func videoReport(_ intervals: [ClosedRange<Double>]) -> VideoReport? {
    guard let start = intervals.first?.lowerBound else { return nil }
    let duration = Self.length(of: intervals)
    // Rates refer to the time in which the frames were produced, which may have begun before the first one arrived.
    let (made, surplus) = (duration + video.frameRateEstimator.preJoinDuration, video.frameRateEstimator.surplus)
    func rate(_ count: Double) -> Double { made > 0 ? roundedForReport(max(0, count) / made) : 0 }
    return VideoReport(
      start: roundedForReport(start), duration: roundedForReport(duration), frames: video.decoded,
      fps: rate(Double(video.decoded) - surplus.videoFrames),
      fpsMinimum: buckets.fewestFrames(in: intervals, most: video.frameRateEstimator.fastest),
      bitrate: rate(8 * (Double(videoBytes) - surplus.bytes)), keyframes: video.keyframes,
      decodeErrors: video.decodeErrors, framesBeforeKeyframe: video.beforeKeyframe, sizes: video.sizes,
      sizeChanges: video.sizeChanges, orientations: video.orientations,
      brightness: roundedForReport(video.meanBrightness),
      freezes: video.freezes.intervals(of: duration), black: video.blackIntervals.intervals(of: duration),
      frozen: video.frozen.intervals(of: duration))
  }

  /// - Parameter intervals: when the track was there.
  private func audioReport(_ intervals: [ClosedRange<Double>]) -> AudioReport? {
    guard let start = intervals.first?.lowerBound else { return nil }
    let duration = Self.length(of: intervals)
    return AudioReport(
      start: roundedForReport(start), duration: roundedForReport(duration), packets: audio.decoded,
      bitrate: duration > 0 ? roundedForReport(Double(audioBytes * 8) / duration) : 0, channels: audio.channels,
      decodeErrors: audio.decodeErrors, level: roundedForReport(audio.meter.level),
      peak: roundedForReport(audio.meter.peak),
      concealed: roundedForReport(audio.concealed), silence: audio.meter.silences(of: duration),
      clipped: audio.meter.clipped(of: duration), gaps: audio.gaps.intervals(of: duration))
  }

  private static func length(of intervals: [ClosedRange<Double>]) -> Double {
    intervals.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
  }

  private var patternReport: PatternReport? {
    guard framesRead > 0 || audio.marksFound > 0 else { return nil }
    return PatternReport(
      streamID: Int(numbers.streamID), framesRead: framesRead, framesUnreadable: video.unreadable,
      numbersPainted: numbers.numbersPainted, missing: numbers.numbersPainted - numbers.numbersSeen,
      doubled: numbers.doubled, reordered: numbers.reordered, restarts: numbers.restarts, marksFound: audio.marksFound,
      marksExpected: audio.marksExpected, videoDelay: videoDelays.spread, audioDelay: audioDelays.spread,
      quality: video.quality)
  }
}
