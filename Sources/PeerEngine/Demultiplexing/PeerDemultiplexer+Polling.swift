package import Media
internal import NetworkEmulation
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
    handleWaitingMessages(now: now)
    if impaired != nil { releaseDatagrams(now: now, carryOut: carryOut) }
    if let deadline, deadline <= now {
      while let engine = schedule.takeDue(now: now) { markForPoll(engine) }
    }
    for (participant, event) in events { carryOut(.event(event), participant) }
    events.removeAll()
    for (participant, action) in dataActions { carryOut(.dataChannel(action), participant) }
    dataActions.removeAll()
    var due: [PeerConnection] = []
    swap(&due, &enginesToPoll)
    var actions: [PeerConnection.Action] = []
    for engine in due {
      engine.pollState.isQueued = false
      engine.poll(now: now, wallClock: wallClock, into: &actions)
      for action in actions {
        noteCheck(action, of: engine)
        if impaired == nil || passesOutbound(action, engine.participant, now: now) {
          carryOut(action, engine.participant)
        }
        if case .event(.ended) = action { forget(engine) }
      }
      actions.removeAll(keepingCapacity: true)
      namesToResolve += engine.takeNamesToResolve()
      noteUsernameFragments(of: engine)
      schedule.update(engine, now: now)
    }
    updateDeadline(now: now)
  }

  private func updateDeadline(now: MonotonicInstant) {
    var next = schedule.earliest
    isUrgent = schedule.isUrgent
    isConnecting = schedule.isConnecting(now: now)
    if !rateLimiters.isEmpty {
      for limiter in rateLimiters.values {
        guard let due = limiter.deadline else { continue }
        next = next.map { min($0, due) } ?? due
      }
    }
    if let due = impaired?.deadline {
      next = next.map { min($0, due) } ?? due
      isUrgent = true
    }
    deadline = next
  }

  /// Handles the waiting descriptions that are due, and removes the limiters that are idle.
  private func handleWaitingMessages(now: MonotonicInstant) {
    if rateLimiters.isEmpty { return }
    for participant in Array(rateLimiters.keys) {
      for message in rateLimiters[participant]?.open(now: now) ?? [] { act(on: message, from: participant, now: now) }
      if rateLimiters[participant]?.isIdle(now: now) == true { rateLimiters[participant] = nil }
    }
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
