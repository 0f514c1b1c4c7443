package import Media
import NIOCore
package import RTP

/// Requests of the receiver.
extension SendTrack {
  /// How long a viewer may take to decode one frame of a replayed group.
  private static let decodingTime: Duration = .milliseconds(5)

  /// Retransmits lost packets: in the RTX stream if that was negotiated (RFC 4588), else unchanged. Those beyond the budget
  /// are skipped; the receiver can request them again.
  package mutating func lost(
    _ sequenceNumbers: [UInt16], roundTrip: Duration, pacer: inout Pacer, now: MonotonicInstant
  ) {
    // A repeated request cannot take into account a retransmission that is still queued here.
    let answerTime = roundTrip + pacer.retransmissionDelay
    for number in sequenceNumbers {
      guard let original = history.packet(number, roundTrip: answerTime, now: now) else { continue }
      guard budget.spend(original.byteCount) else { return }
      let packet =
        format.retransmissionPayloadType == nil ? original : repair?.retransmission(of: original) ?? original
      statistics.packetsRetransmitted += 1
      pacer.add(.init(packet: packet, priority: .retransmission, media: media.index), now: now)
    }
  }

  /// Handles a keyframe request, unless a keyframe was sent a moment ago.
  ///
  /// - Parameter limit: the likely limit of the path, in bits a second. A group of pictures that would take longer than a
  ///   second is not replayed: the frames continue, and the viewer resumes with the next keyframe.
  /// - Returns: Whether the source must be informed.
  package mutating func keyframeRequested(
    limit: Double? = nil, pacer: inout Pacer, now: MonotonicInstant
  ) -> Bool {
    guard media.kind == .video, media.sends else { return false }
    statistics.keyframeRequests += 1
    // A viewer that is still decoding a replayed group may ask again.
    let interval = max(configuration.keyframeInterval, Self.decodingTime * group.frames.count)
    let isEarly = lastKeyframeAnswer.map { now - $0 < interval } ?? false
    if configuration.keyframeResponse == .requestFromSource {
      wantsSourceKeyframe = true
      if !isEarly { awaitSourceKeyframe(now: now) }
      return takeSourceKeyframeRequest(now: now)
    }
    if isEarly { return false }
    // The answer to the previous request is still queued.
    if pacer.delay > configuration.keyframeInterval / 2 { return false }
    lastKeyframeAnswer = now
    if exceeds(limit) { return true }
    replay(pacer: &pacer, now: now)
    return true
  }

  /// Returns whether a full intra request is new: repetitions have the same sequence number (RFC 5104, 4.3.1.2).
  package mutating func isNew(fullIntraRequest number: UInt8, from sender: UInt32) -> Bool {
    if let last = lastFullIntraRequest, last == (sender, number) { return false }
    lastFullIntraRequest = (sender, number)
    return true
  }

  /// Handles a report block; returns the round-trip time, if it can be computed.
  package mutating func received(_ block: ReportBlock, time: NTPTime) -> Duration? {
    defer {
      statistics.fractionLost = reporter.fractionLost
      statistics.packetsLost = reporter.packetsLost
      statistics.receptionReports = reporter.receptionReports
    }
    return reporter.received(block, time: time)
  }
}
