package import Media

/// What follows.
extension CongestionController {
  /// What the path carries, in bits a second, where it is known to take at most it must; nil while it has taken all that it
  /// was given.
  package var knownLimit: Double? {
    configuration.sourceFollows || judgement == .reports || saturation.isSaturated ? likelyLimit : nil
  }

  /// What the line is likely to take at most, in bits a second; nil while it has shown no limit.
  package var likelyLimit: Double? {
    switch judgement {
    case .delay: rateControl.hasFallen && lineRate < ceiling * 0.9 ? lineRate : nil
    case .reports: receiverLimit != nil || lossBound.hasFallen ? lineRate : nil
    }
  }

  /// The rate at which packets are to leave, in bits a second; nil while nothing is known of the line.
  package func pace(mediaRate: Double) -> Double? {
    if judgement == .reports, likelyLimit == nil { return nil }
    let usual = lineRate * Self.headroom
    // On a path that has never been full a keyframe need not wait.
    if likelyLimit == nil {
      return max(usual, hasFeedback && !rateControl.hasFallen ? Self.widePace : Self.unlimitedPace)
    }
    return configuration.sourceFollows ? lineRate * Self.narrowHeadroom : knownLimit ?? max(usual, mediaRate * 1.5)
  }

  /// Bytes that may leave before there is more feedback; nil for any number.
  ///
  /// Without it a path that suddenly becomes narrow would be given far too much before the first feedback tells.
  package mutating func room(now: MonotonicInstant) -> Int? {
    guard isWatched else { return roomOfUnwatched(now: now) }
    guard hasFeedback else { return nil }
    let span = queue.shortestAnswer + feedbackInterval - queue.excess * 3
    let rate = max(lineRate, acknowledged.bitrate ?? 0)
    return Int(rate / 8 * max(0, span.seconds)) + 2_400 - log.inFlight(now: now)
  }

  /// What a recorded source begins with may not fill a low bandwidth for seconds before the first feedback reports it.
  private mutating func roomOfUnwatched(now: MonotonicInstant) -> Int? {
    guard judgement == .delay, let firstSent else { return nil }
    // A receiver that agreed to feedback and sends none.
    if !hasFeedback, now - firstSent > .seconds(1) { return nil }
    let span = (queue.latestAnswer + feedbackInterval).seconds
    return Int((acknowledged.bitrate ?? 0) / 8 * span * 1.5) + Self.firstFlight - log.inFlight(now: now)
  }

  /// The probe that packets should make up now, begun if it is time for one.
  ///
  /// - Parameters:
  ///   - isSending: whether media is about to leave: a line is not probed for nothing.
  ///   - needsMore: whether the line is known to be too narrow for what there is.
  package mutating func probeRate(isSending: Bool, needsMore: Bool, now: MonotonicInstant) -> Double? {
    if let active = probe.active { return active.rate }
    guard isSending, judgement == .delay, probe.isDue(isUrgent: needsMore, now: now), isCalm else { return nil }
    let own = media.bitrate(now: now)
    // Anyone who does not use what there is needs no more.
    let isOfUse = !hasFeedback || own > estimate / 2 || needsMore
    guard estimate < configuration.maximumBitrate * 0.95, isOfUse else { return nil }
    let rate = min(estimate * (hasFeedback ? 2 : 3), configuration.maximumBitrate)
    probe.begin(rate: rate, now: now)
    return rate
  }

  /// Whether packets that leave now belong to a probe.
  package var isProbing: Bool { probe.active != nil }

  /// There is nothing that the probe could be made up of.
  package mutating func abandonProbe(now: MonotonicInstant) { probe.abandon(now: now) }

  /// What to tell the source now; nil when it knows.
  ///
  /// - Parameter backlog: how long the last packet that waits to leave has to wait.
  package mutating func poll(backlog: Duration, now: MonotonicInstant) -> Target? {
    let excess = queue.excess + max(.zero, backlog - Self.harmlessBacklog)
    let share = max(0.1, 1 - excess.seconds / Self.drainTime)
    let repeated = min(retransmissions.bitrate(now: now), estimate / 2)
    let bitrate = min(
      max((estimate - repeated) * share, configuration.minimumBitrate), configuration.maximumBitrate)
    let target = Target(bitrate: Int(bitrate), fractionLost: lossBound.fractionLost)
    if let reported {
      let change = Double(target.bitrate - reported.target.bitrate) / Double(max(1, reported.target.bitrate))
      guard abs(change) >= Self.notableChange else { return nil }
      guard change < 0 || now - reported.time >= Self.shortestInterval else { return nil }
    }
    reported = (target, now)
    return target
  }

  /// The target that was told last.
  package var target: Int? { reported?.target.bitrate }

  /// The share that the receiver lost recently, 0 to 1.
  package var fractionLost: Double { lossBound.fractionLost }

  /// How long the fastest of the newest packets waited on their way.
  package var queueDelay: Duration { queue.current }
}
