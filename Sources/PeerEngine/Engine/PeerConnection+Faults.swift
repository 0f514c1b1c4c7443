internal import Media
internal import Signalling

/// Deliberate faults. Without a ``FaultInjector`` none of this is called.
extension PeerConnection {
  /// Carries out the actions of the fault that are due.
  func injectFaults(now: MonotonicInstant) {
    let due = faultInjector?.due(isConnected: state == .connected, now: now) ?? []
    for action in due { carryOut(action, now: now) }
  }

  /// Returns the actions of a poll, after the signalling messages among them have passed through the injector.
  func passThroughInjector(_ actions: [Action], now: MonotonicInstant) -> [Action] {
    actions.compactMap { action in
      guard case .event(.signal(let message)) = action else { return action }
      return faultInjector?.outgoing(message, now: now).map { .event(.signal($0)) }
    }
  }

  private func carryOut(_ action: FaultAction, now: MonotonicInstant) {
    switch action {
    case .receive(let message): take(message, now: now)
    case .send(let message): emit(.signal(message))
    case .offerAgain: offer(now: now)
    case .changeSources: media.changeSources(now: now)
    case .alterPackets(let alteration): media.alteration = alteration
    case .stopSending: stopSending(now: now)
    }
  }

  /// Ends the call as a killed program does: nothing is sent.
  private func stopSending(now: MonotonicInstant) {
    end(CloseReason(.closedByUs, "We stopped sending on purpose, without a goodbye."), now: now)
    isSilenced = true
    actions.removeAll { if case .transmit = $0 { true } else { false } }
  }
}
