internal import NIOCore

/// An engine that misbehaves. One that behaves comes here never.
extension PeerEngine {
  /// Does what the act asks for at this time.
  func perform(now: ContinuousClock.Instant) {
    for deed in misbehaviour?.due(isConnected: state == .connected, now: now) ?? [] { carryOut(deed, now: now) }
  }

  /// What comes of a turn's actions: what is said goes through the act.
  func staged(_ actions: [Action], now: ContinuousClock.Instant) -> [Action] {
    actions.compactMap { action in
      guard case .event(.signal(let message)) = action else { return action }
      return misbehaviour?.says(message, now: now).map { .event(.signal($0)) }
    }
  }

  private func carryOut(_ deed: Deed, now: ContinuousClock.Instant) {
    switch deed {
    case .hear(let message): take(message, now: now)
    case .say(let message): emit(.signal(message))
    case .offerAgain: offer(now: now)
    case .changeSources: media.changeSources(now: now)
    case .alterPackets(let alteration): media.alteration = alteration
    case .fallSilent: fallSilent(now: now)
    }
  }

  /// Ends as a program does that was killed: nobody is told.
  private func fallSilent(now: ContinuousClock.Instant) {
    end(PeerEnding(.closedByUs, "We fell silent on purpose, without a goodbye."), now: now)
    hasFallenSilent = true
    actions.removeAll { if case .transmit = $0 { true } else { false } }
  }
}
