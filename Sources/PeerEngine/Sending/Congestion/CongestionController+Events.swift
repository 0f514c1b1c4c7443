package import Media
package import RTP

/// Inputs: frames, sent packets and feedback.
extension CongestionController {
  /// Notes that the source produced a frame.
  package mutating func offered(size: Int, now: MonotonicInstant) { saturation.offered(size: size, now: now) }

  /// Notes that a packet leaves.
  ///
  /// - Parameters:
  ///   - number: its transport-wide sequence number, if it has one.
  ///   - isFiller: whether it is sent only for a probe.
  package mutating func sent(
    number: UInt16?, size: Int, isRepeat: Bool, isFiller: Bool = false, isAudio: Bool = false, now: MonotonicInstant
  ) {
    if isAudio { audio.add(bytes: size, now: now) }
    if isRepeat { retransmissions.add(bytes: size, now: now) } else { media.add(bytes: size, now: now) }
    guard let number, judgement == .delay else { return }
    firstSent = firstSent ?? now
    log.sent(number: number, size: size, probe: probe.active?.number, now: now)
    probe.sent(size: size, isFiller: isFiller, now: now)
  }

  package mutating func received(_ feedback: TransportFeedback, now: MonotonicInstant) {
    guard judgement == .delay else { return }
    let report = log.received(feedback)
    guard report.expected > 0 || !report.arrivals.isEmpty else { return }
    hasFeedback = true
    if let lastFeedback, now > lastFeedback {
      feedbackInterval = min((feedbackInterval * 7 + min(now - lastFeedback, .seconds(1))) / 8, .milliseconds(250))
    }
    lastFeedback = now
    queue.add(report.arrivals, now: now)
    for arrival in report.arrivals {
      acknowledged.add(arrival)
      if let change = groups.add(arrival) { trend.add(change) }
    }
    let limits = limits(now: now)
    let usage = usage(now: now)
    rateControl.update(
      usage, acknowledged: carried, sent: sentRate(now: now), roundTrip: queue.minimumFeedbackDelay,
      limits: limits, now: now)
    if usage == .over { probe.postpone(now: now) }
    lossBound.received(
      expected: report.expected, lost: report.lost, isUncongested: isUncongested,
      sent: acknowledged.bitrate ?? estimate,
      roundTrip: queue.minimumFeedbackDelay, limits: limits, now: now)
    saturation.update(
      carried: carried, queueDelay: queue.current, sent: sentRate(now: now), linkCapacity: rateControl.rate, now: now)
    if let measured = probe.received(report.arrivals, now: now) { judge(measured, limits: limits, now: now) }
    settle(limits: limits, now: now)
  }

  /// Handles a report block on one of our sources; used if there is no transport-wide feedback.
  package mutating func received(_ block: ReportBlock, roundTrip sample: Duration?, now: MonotonicInstant) {
    if let sample {
      roundTrip = sample
      shortestRoundTrip = min(shortestRoundTrip ?? sample, sample)
    }
    let counted = (
      highest: block.extendedHighestSequenceNumber, lost: Int(block.cumulativeLost), sent: sentRate(now: now)
    )
    defer { lossCounts[block.ssrc] = counted }
    guard judgement == .reports, let before = lossCounts[block.ssrc] else { return }
    // What was lost was sent since the block before, when more may have been sent than in the last second: video is skipped
    // as soon as there is loss.
    let sent = max(counted.sent, before.sent)
    let limits = limits(now: now)
    let isFull = sample.map { $0 - (shortestRoundTrip ?? $0) > Self.fullQueue } ?? false
    lossBound.received(
      expected: Int(Int32(bitPattern: counted.highest &- before.highest)), lost: counted.lost - before.lost,
      isUncongested: false, sent: sent, roundTrip: roundTrip, limits: limits, reportedLimit: receiverLimit.isSet,
      now: now)
    if isFull { lossBound.queueWasSeen(sent: sent, limits: limits, now: now) }
    settle(limits: limits, now: now)
  }

  /// Applies the receiver's maximum bitrate (draft-alvestrand-rmcat-remb-03).
  ///
  /// - Parameter coverage: the media whose sources the message names.
  package mutating func received(
    maximumBitrate: UInt64, coverage: ReceiverLimit.Coverage = .everything, now: MonotonicInstant
  ) {
    receiverLimit.received(Double(maximumBitrate), coverage: coverage, now: now)
    settle(limits: limits(now: now), now: now)
  }

  /// Lets a limit of the receiver end that is not repeated.
  mutating func updateReceiverLimit(now: MonotonicInstant) {
    if receiverLimit.isSet { settle(limits: limits(now: now), now: now) }
  }

  private mutating func judge(_ measured: Double, limits: ClosedRange<Double>, now: MonotonicInstant) {
    let before = estimate
    let isUseful = measured > before * Self.minimumProbeGain
    if isUseful {
      lastSuccessfulProbe = now
      rateControl.applyProbeResult(measured, limits: limits)
      lossBound.applyProbeResult(measured)
    }
    probe.judged(wasUseful: isUseful, now: now)
  }

  /// The bitrate that the path carries. Packets that are lost without a queue would be lost at any rate, so the path
  /// carried them as well.
  private var carried: Double? {
    let share = queue.current < QueueDelayEstimator.harmless ? 1 - min(lossBound.fractionLost, 0.5) : 1
    return acknowledged.bitrate.map { $0 / share }
  }

  private mutating func sentRate(now: MonotonicInstant) -> Double {
    media.bitrate(now: now) + retransmissions.bitrate(now: now)
  }

  private mutating func settle(limits: ClosedRange<Double>, now: MonotonicInstant) {
    var lowest = lossBound.rate
    if judgement == .delay { lowest = min(lowest, rateControl.rate) }
    let limit = receiversLimit(ceiling: limits.upperBound, now: now)
    isLimitedByReceiver = limit != nil
    if let limit { lowest = min(lowest, limit) }
    estimate = min(max(lowest, limits.lowerBound), limits.upperBound)
    linkCapacity = judgement == .delay ? rateControl.rate : estimate
    ceiling = limits.upperBound
  }

  /// Returns the receiver's limit for all media together, in bits a second, if it counts.
  ///
  /// A source that does not follow the estimate is not held back by it alone: the receiver estimates from what arrives,
  /// and so always says little more than that. It counts if loss or a full queue show that the path does not carry the
  /// media, or if it is a cap.
  private mutating func receiversLimit(ceiling: Double, now: MonotonicInstant) -> Double? {
    guard receiverLimit.isSet, receiverLimit.coverage != .audio else { return nil }
    let all = sentRate(now: now)
    let uncovered = receiverLimit.coverage == .video ? min(audio.bitrate(now: now), all) : 0
    guard let limit = receiverLimit.limit(sent: all - uncovered, ceiling: ceiling, now: now) else { return nil }
    let counts =
      configuration.sourceFollows || lossBound.fell(within: Self.congestionMemory, now: now)
      || receiverLimit.isCap(sent: all - uncovered, now: now)
    return counts ? limit + uncovered : nil
  }

  /// Returns the limits of the estimate. Its minimum exceeds that of the target if audio alone needs as much. Its maximum
  /// exceeds that of the target if the media itself needs more: a recorded file is sent as it is.
  private mutating func limits(now: MonotonicInstant) -> ClosedRange<Double> {
    let own = media.bitrate(now: now)
    let least = max(configuration.minimumBitrate, audio.bitrate(now: now) + Self.minimumVideoBitrate)
    return least...max(configuration.maximumBitrate, own * 2, least)
  }

  private func usage(now: MonotonicInstant) -> TrendlineEstimator.Usage {
    // A queue this long is overuse, whatever its slope.
    if trend.usage == .normal, limitsInFlight, queue.excess > Self.fullQueue / 2 { return .over }
    if queue.excess == .zero, let lastSuccessfulProbe, now - lastSuccessfulProbe < Self.postProbeHoldOff {
      return .normal
    }
    return trend.usage
  }

  /// Whether the bytes in flight are limited to what the path carries.
  var limitsInFlight: Bool { configuration.sourceFollows || saturation.isSaturated }

  var isUncongested: Bool { trend.usage != .over && queue.current < QueueDelayEstimator.harmless }
}
