internal import Media
internal import Signalling

/// What passes the interceptors. Without one, none of this is called.
extension PeerConnection {
  /// Carries out the interceptors' commands that are due.
  func pollInterceptors(now: MonotonicInstant) {
    let isConnected = state == .connected
    for position in interceptors.indices {
      for command in interceptors[position].due(isConnected: isConnected, now: now) { carryOut(command, now: now) }
    }
  }

  /// Returns the message that the connection receives now; nil for none.
  func intercepted(incoming message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    var passed: SignallingMessage? = message
    for position in interceptors.indices {
      guard let message = passed else { return nil }
      passed = interceptors[position].incoming(message, now: now)
    }
    return passed
  }

  /// Returns the actions of a poll, after the signalling messages among them have passed the interceptors.
  func intercepted(_ actions: [Action], now: MonotonicInstant) -> [Action] {
    actions.compactMap { action in
      guard case .event(.signal(let message)) = action else { return action }
      return intercepted(outgoing: message, now: now).map { .event(.signal($0)) }
    }
  }

  private func intercepted(outgoing message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    var passed: SignallingMessage? = message
    for position in interceptors.indices {
      guard let message = passed else { return nil }
      passed = interceptors[position].outgoing(message, now: now)
    }
    return passed
  }

  private func carryOut(_ command: ConnectionCommand, now: MonotonicInstant) {
    guard isOpen else { return }
    switch command {
    case .receive(let message): take(message, now: now)
    case .send(let message): emit(.signal(message))
    case .offer: offer(now: now)
    case .changeSources: media.changeSources(now: now)
    case .abandon(let reason): abandon(reason, now: now)
    }
  }

  /// Ends the call as a killed program does: nothing is sent.
  private func abandon(_ reason: CloseReason, now: MonotonicInstant) {
    end(reason, now: now)
    isSilenced = true
    actions.removeAll { if case .transmit = $0 { true } else { false } }
  }
}
