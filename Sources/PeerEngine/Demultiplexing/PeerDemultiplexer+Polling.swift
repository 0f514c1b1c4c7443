package import Media
package import RTP

/// The polls of the engines. A poll costs only the engines to which something has happened, and those that are due.
extension PeerDemultiplexer {
  /// Queues an engine for the next poll; must follow whatever happens to it.
  func markForPoll(_ engine: PeerConnection) {
    if engine.pollState.isQueued { return }
    engine.pollState.isQueued = true
    enginesToPoll.append(engine)
  }

  /// Carries out all actions that are due: those of engines to which something has happened, and those of engines that are
  /// due.
  package func poll(
    now: MonotonicInstant, wallClock: NTPTime, carryOut: (PeerConnection.Action, ParticipantID) -> Void
  ) {
    for (message, participant) in rateLimiters.takeDue(now: now) { act(on: message, from: participant, now: now) }
    if let deadline = timing.deadline, deadline <= now {
      while let engine = schedule.takeDue(now: now) { markForPoll(engine) }
    }
    var ownActions: [(action: PeerConnection.Action, participant: ParticipantID)] = []
    swap(&ownActions, &self.ownActions)
    for (action, participant) in ownActions { carryOut(action, participant) }
    var due: [PeerConnection] = []
    swap(&due, &enginesToPoll)
    var actions: [PeerConnection.Action] = []
    for engine in due {
      engine.pollState.isQueued = false
      engine.poll(now: now, wallClock: wallClock, into: &actions)
      for action in actions {
        noteCheck(action, of: engine)
        carryOut(action, engine.participant)
        if case .event(.ended) = action { forget(engine) }
      }
      actions.removeAll(keepingCapacity: true)
      let names = engine.takeNamesToResolve()
      if !names.isEmpty { namesToResolve += names }
      noteUsernameFragments(of: engine)
      schedule.update(engine, now: now)
    }
    updateTiming(now: now)
  }

  private func updateTiming(now: MonotonicInstant) {
    var next = schedule.timing(now: now)
    next.consider(rateLimiters.deadline)
    timing = next
  }

  /// Notes an engine's user fragments: with an offer that restarts ICE it has a new one, and for a while after the restart
  /// former ones too.
  private func noteUsernameFragments(of engine: PeerConnection) {
    guard let fragments = engine.takeUsernameFragments(), engines[engine.participant] === engine,
      fragments.contains(where: { byUsernameFragment[$0] !== engine })
    else { return }
    byUsernameFragment = byUsernameFragment.filter { $0.value !== engine }
    for fragment in fragments { byUsernameFragment[fragment] = engine }
  }
}
