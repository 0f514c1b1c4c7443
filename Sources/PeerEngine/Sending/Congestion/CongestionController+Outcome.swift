package import Media

/// Outputs: limits, pacing, probes and targets.
extension CongestionController {
  /// The bitrate that the path carries, in bits a second, if it is known to be a limit; nil while the path has carried
  /// everything.
  package var knownLimit: Double? {
    configuration.sourceFollows || judgement == .reports || saturation.isSaturated ? likelyLimit : nil
  }

  /// The likely limit of the path in bits a second; nil while no limit is known.
  package var likelyLimit: Double? {
    switch judgement {
    case .delay: rateControl.hasFallen && linkCapacity < ceiling * 0.9 ? linkCapacity : nil
    case .reports: isLimitedByReceiver || lossBound.hasFallen ? linkCapacity : nil
    }
  }

  /// Returns the pacing rate in bits a second, or nil while nothing is known about the path.
  package func pace(mediaRate: Double) -> Double? {
    if judgement == .reports, likelyLimit == nil { return nil }
    let usual = linkCapacity * Self.headroom
    // On a path that has never been congested, a keyframe need not wait.
    if likelyLimit == nil {
      return max(usual, hasFeedback && !rateControl.hasFallen ? Self.widePace : Self.unlimitedPace)
    }
    return configuration.sourceFollows ? linkCapacity * Self.narrowHeadroom : knownLimit ?? max(usual, mediaRate * 1.5)
  }

  /// Returns the number of bytes that may leave before there is more feedback, or nil for unlimited.
  ///
  /// Without this limit, far too much would be sent into a path that suddenly becomes narrow before the first feedback
  /// reports it.
  package mutating func sendAllowance(now: MonotonicInstant) -> Int? {
    guard limitsInFlight else { return initialWindowAllowance(now: now) }
    guard hasFeedback else { return nil }
    let span = queue.minimumFeedbackDelay + feedbackInterval - queue.excess * 3
    let rate = max(linkCapacity, acknowledged.bitrate ?? 0)
    return Int(rate / 8 * max(0, span.seconds)) + 2_400 - log.inFlight(now: now)
  }

  /// Limits the bytes of a recorded source, whose first frames must not fill a low bandwidth for seconds before the first
  /// feedback reports it.
  private mutating func initialWindowAllowance(now: MonotonicInstant) -> Int? {
    guard judgement == .delay, let firstSent else { return nil }
    // The receiver negotiated feedback but sends none.
    if !hasFeedback, now - firstSent > .seconds(1) { return nil }
    let span = (queue.latestFeedbackDelay + feedbackInterval).seconds
    return Int((acknowledged.bitrate ?? 0) / 8 * span * 1.5) + Self.initialWindow - log.inFlight(now: now)
  }

  /// Returns the rate of the current probe, beginning one if it is due.
  ///
  /// - Parameters:
  ///   - isSending: whether media is about to leave: a path is not probed without need.
  ///   - needsMore: whether the path is known to be too narrow for the media.
  package mutating func probeRate(isSending: Bool, needsMore: Bool, now: MonotonicInstant) -> Double? {
    if let active = probe.active { return active.rate }
    guard isSending, judgement == .delay, probe.isDue(isUrgent: needsMore, now: now), isUncongested else { return nil }
    let own = media.bitrate(now: now)
    // A sender that does not use the estimate needs no more.
    let isOfUse = !hasFeedback || own > estimate / 2 || needsMore
    guard estimate < configuration.maximumBitrate * 0.95, isOfUse else { return nil }
    let rate = min(estimate * (hasFeedback ? 2 : 3), configuration.maximumBitrate)
    probe.begin(rate: rate, now: now)
    return rate
  }

  /// Whether packets that leave now belong to a probe.
  package var isProbing: Bool { probe.active != nil }

  /// Ends the probe early, because there is no packet to fill it with.
  package mutating func abandonProbe(now: MonotonicInstant) { probe.abandon(now: now) }

  /// Returns the target bitrate for the source, or nil if it has not changed enough.
  ///
  /// - Parameter backlog: how long the last queued packet has to wait before it leaves.
  package mutating func poll(backlog: Duration, now: MonotonicInstant) -> Target? {
    updateReceiverLimit(now: now)
    let excess = queue.excess + max(.zero, backlog - Self.harmlessBacklog)
    let share = max(0.1, 1 - excess.seconds / Self.drainTime)
    let repeated = min(retransmissions.bitrate(now: now), estimate / 2)
    let bitrate = min(
      max((estimate - repeated) * share, configuration.minimumBitrate), configuration.maximumBitrate)
    let target = Target(bitrate: Int(bitrate), fractionLost: lossBound.fractionLost)
    if let reported {
      let change = Double(target.bitrate - reported.target.bitrate) / Double(max(1, reported.target.bitrate))
      guard abs(change) >= Self.notableChange else { return nil }
      guard change < 0 || now - reported.time >= Self.minimumInterval else { return nil }
    }
    reported = (target, now)
    return target
  }

  /// The target that was last reported.
  package var target: Int? { reported?.target.bitrate }

  /// The share of packets that the receiver lost recently, 0 to 1.
  package var fractionLost: Double { lossBound.fractionLost }

  /// The queueing delay of the fastest of the newest packets.
  package var queueDelay: Duration { queue.current }
}
