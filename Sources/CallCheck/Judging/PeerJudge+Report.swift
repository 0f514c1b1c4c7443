import Codecs
import Media

/// The results of a peer.
extension PeerJudge {
  /// Returns the peer's state for a live display.
  func status(at time: Double) -> CheckStatus.Peer {
    let recent = first.buckets.lastSecond(before: time)
    let length = Double(recent.count) * first.buckets.step
    let bitrate = streams.reduce(0) { sum, stream in
      let steps = stream.buckets.lastSecond(before: time)
      let bytes = steps.reduce(0) { $0 + $1.videoBytes + $1.audioBytes }
      return sum + Double(bytes * 8) / (Double(steps.count) * stream.buckets.step)
    }
    let energy = recent.reduce(into: BucketedTimeline.Mean()) { $0 += $1.energy }
    let fps = Double(recent.reduce(0) { $0 + $1.frames }) / length
    return CheckStatus.Peer(
      id: id.text, reached: Diagnosis.progress(notes), progress: Diagnosis.sentence(notes),
      isGone: notes.departure != nil, isListener: notes.isListener,
      fps: roundedForReport(min(fps, first.video.frameRateEstimator.fastest ?? .infinity)),
      bitrate: roundedForReport(bitrate),
      level: energy.value.map { roundedForReport(decibels(amplitude: $0.squareRoot())) })
  }

  /// Returns the interval in which media arrived; nil if none did.
  func presence(until end: Double) -> ClosedRange<Double>? {
    guard let first = streams.flatMap({ [$0.firstFrame, $0.firstSound, $0.firstUnverified] }).compactMap({ $0 }).min()
    else { return nil }
    return first...max(first, self.end(until: end))
  }

  /// Returns when the peer's media ended: with its last frame if the peer has left.
  private func end(until end: Double) -> Double {
    guard let departure = notes.departure else { return end }
    return min(end, departure.time, streams.compactMap(\.lastMedia).max() ?? departure.time)
  }

  /// Returns all measurements as if the media ended now. The check can continue afterwards.
  func report(until checkEnd: Double) -> PeerReport {
    let end = end(until: checkEnd)
    let media = first.report(until: end, checkEnd: checkEnd)
    let streams = streams.dropFirst().filter(\.exists).map { stream in
      stream.report(until: end, checkEnd: checkEnd, alignedTo: media.timeline.step)
    }
    let departed = notes.departure.map { $0.cause != .closedByUs } ?? false
    return PeerReport(
      id: id.text, reached: Diagnosis.progress(notes), progress: Diagnosis.sentence(notes), steps: notes.steps,
      departure: notes.departure, absent: departed ? roundedForReport(max(0, checkEnd - end)) : 0,
      connection: connection(receiving: media.received), codecs: media.codecs, video: media.video, audio: media.audio,
      undecoded: media.undecoded, undecodedReason: media.undecodedReason,
      rejected: notes.rejected.isEmpty ? nil : notes.rejected, skew: media.skew,
      pattern: media.pattern, returned: media.returned, data: data,
      messages: messages.isEmpty ? nil : messages, furtherMessages: furtherMessages == 0 ? nil : furtherMessages,
      onlyReceives: notes.isListener ? true : nil,
      timeline: media.timeline, skippedFrames: media.skippedFrames, unverified: media.unverified,
      thumbnails: media.thumbnails,
      streams: streams.isEmpty ? nil : streams,
      streamsNotJudged: streamsNotJudged.isEmpty ? nil : streamsNotJudged.count)
  }

  private func connection(receiving tracks: StreamReport.ReceivedTracks) -> ConnectionReport {
    var connection = counter.report
    connection.audio = tracks.audio
    connection.video = tracks.video
    return connection
  }
}
