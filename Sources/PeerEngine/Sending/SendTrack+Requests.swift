package import Media
import NIOCore
package import RTP

/// What the receiver requests.
extension SendTrack {
  /// Sends packets again that were lost: in the repairing source where that was agreed to (RFC 4588), else as they
  /// were. What goes beyond the budget is skipped; who needs it asks again.
  package mutating func lost(
    _ sequenceNumbers: [UInt16], roundTrip: Duration, pacer: inout Pacer, now: MonotonicInstant
  ) {
    // Who asks again cannot know of an answer that still waits here.
    let answerTime = roundTrip + pacer.retransmissionDelay
    for number in sequenceNumbers {
      guard let original = history.packet(number, roundTrip: answerTime, now: now) else { continue }
      guard budget.spend(original.byteCount) else { return }
      let packet =
        media.retransmissionPayloadType == nil ? original : repair?.retransmission(of: original) ?? original
      statistics.packetsRetransmitted += 1
      pacer.add(.init(packet: packet, priority: .retransmission, media: media.index), now: now)
    }
  }

  /// Answers a request for a keyframe, unless one was sent a moment ago.
  ///
  /// - Parameter limit: what the line is likely to take at most, in bits a second. What would take it longer than a second is
  ///   not sent again: the frames continue, and the viewer with the next keyframe.
  /// - Returns: whether the source should hear of it.
  package mutating func keyframeRequested(
    limit: Double? = nil, pacer: inout Pacer, now: MonotonicInstant
  ) -> Bool {
    guard media.codec == .vp8, media.sends else { return false }
    statistics.keyframeRequests += 1
    if configuration.keyframeAnswer == .source {
      wantsSourceKeyframe = true
      return takeSourceKeyframeRequest(now: now)
    }
    if let lastKeyframeAnswer, now - lastKeyframeAnswer < configuration.keyframeInterval { return false }
    // The answer to the request before is still on its way out.
    if pacer.delay > configuration.keyframeInterval / 2 { return false }
    lastKeyframeAnswer = now
    if let limit, .seconds(Double(group.byteCount) * 8 / limit) > configuration.longestBacklog { return true }
    replay(pacer: &pacer, now: now)
    return true
  }

  /// Whether a full intra request is a new one: its number tells repetitions (RFC 5104, 4.3.1.2).
  package mutating func isNew(fullIntraRequest number: UInt8, from sender: UInt32) -> Bool {
    if let last = lastFullIntraRequest, last == (sender, number) { return false }
    lastFullIntraRequest = (sender, number)
    return true
  }

  /// Takes in the receiver's report; returns the round trip that it tells.
  package mutating func received(_ block: ReportBlock, time: NTPTime) -> Duration? {
    defer {
      statistics.fractionLost = reporter.fractionLost
      statistics.packetsLost = reporter.packetsLost
    }
    return reporter.received(block, time: time)
  }
}
