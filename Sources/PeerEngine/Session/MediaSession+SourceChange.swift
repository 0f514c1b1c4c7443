import Media
import RTP

/// Sources that change during the call without a word, as they do when a sender restarts or an SFU switches.
extension MediaSession {
  /// Sends all tracks from new sources from now on; frames continue with a keyframe.
  package mutating func changeSources(now: ContinuousClock.Instant) {
    guard !isClosed else { return }
    begin(now: MonotonicInstant(now))
    for position in sending.indices {
      // What waits has the old source in its header.
      pacer.removeAll(media: sending[position].media.index)
      sending[position].changeSource(using: &generator)
    }
  }
}

extension SendTrack {
  /// Continues from a new source, with numbers and timestamps of its own; what was sent before is not sent again.
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
