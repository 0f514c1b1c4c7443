import Media
import RTP

/// Sources that change in mid-call without a word, as they do when a sender restarts or an SFU switches.
extension MediaSession {
  /// Sends all tracks from new sources from now on; pictures go on with a keyframe.
  package mutating func changeSources(now: ContinuousClock.Instant) {
    guard !isClosed else { return }
    begin(now: MonotonicInstant(now))
    for place in sending.indices {
      // What waits has the old source in its header.
      pacer.removeAll(media: sending[place].media.index)
      sending[place].changeSource(using: &generator)
    }
  }
}

extension SendTrack {
  /// Goes on from a new source, with numbers and timestamps of its own; what was sent before is not sent again.
  package mutating func changeSource(using generator: inout some RandomNumberGenerator) {
    stream = RTPStreamSender(
      ssrc: UInt32.random(in: 1...UInt32.max, using: &generator), payloadType: stream.payloadType, using: &generator)
    if let repair {
      self.repair = RTPStreamSender(
        ssrc: UInt32.random(in: 1...UInt32.max, using: &generator), payloadType: repair.payloadType, using: &generator)
    }
    reporter = SenderReporter(clockRate: media.codec.clockRate)
    hasReported = false
    history.forget()
    needsKeyframe = true
    if configuration.keyframeAnswer == .source { wantsSourceKeyframe = media.codec == .vp8 }
  }
}
