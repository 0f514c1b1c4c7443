internal import NIOCore

/// Faults that are injected on purpose. Without a ``FaultInjector`` none of this is called.
extension PeerConnection {
  /// Carries out the actions of the fault that are due.
  func injectFaults(now: ContinuousClock.Instant) {
    for action in faultInjector?.due(isConnected: state == .connected, now: now) ?? [] { carryOut(action, now: now) }
  }

  /// The actions of a turn, after the signalling messages among them have passed through the fault.
  func staged(_ actions: [Action], now: ContinuousClock.Instant) -> [Action] {
    actions.compactMap { action in
      guard case .event(.signal(let message)) = action else { return action }
      return faultInjector?.outgoing(message, now: now).map { .event(.signal($0)) }
    }
  }

  private func carryOut(_ action: FaultAction, now: ContinuousClock.Instant) {
    switch action {
    case .receive(let message): take(message, now: now)
    case .send(let message): emit(.signal(message))
    case .offerAgain: offer(now: now)
    case .changeSources: media.changeSources(now: now)
    case .alterPackets(let alteration): media.alteration = alteration
    case .fallSilent: fallSilent(now: now)
    }
  }

  /// Ends as a killed program does: nothing is sent.
  private func fallSilent(now: ContinuousClock.Instant) {
    end(CloseReason(.closedByUs, "We fell silent on purpose, without a goodbye."), now: now)
    hasFallenSilent = true
    actions.removeAll { if case .transmit = $0 { true } else { false } }
  }
}
