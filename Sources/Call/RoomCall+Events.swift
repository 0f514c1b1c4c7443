internal import BotPeer
internal import Logging
internal import Media
internal import Room
internal import Signalling
internal import Synchronization

/// What happens in the room: stored and logged; the session acts on it.
extension RoomCall {
  /// Runs the session until the peer is closed and has delivered all events.
  func handleEvents(of session: RoomSession) async {
    var connections = ConnectionLog()
    await session.run { event in
      switch event {
      case .signalling(let event):
        let now = MonotonicInstant.now
        sessionLog.withLock { $0.received(event, now: now) }
        occupancy.update { $0.received(event, now: now) }
        received(event)
      case .connection(let event):
        let (participant, now) = (event.participant, MonotonicInstant(event.time))
        let announcement = participants.announcement(of: participant)
        let begins = event.event == .stateChanged(.connecting)
        let isPaused = begins && isPaused(participant)
        sessionLog.withLock { log in
          log.received(event.event, of: participant, announcement: announcement, now: now)
          if begins { log.setPaused(participant, isPaused) }
        }
        occupancy.update { $0.received(event.event, of: participant, now: now) }
        received(event, &connections)
      case .problem(let sentence): log.warning("\(sentence)")
      case .ended(let reason): participants.end(EndReason(reason))
      }
    }
  }

  private func received(_ event: SignallingEvent) {
    observer?.received(event, at: .now)
    switch event {
    case .joined(let you, let others):
      participants.joined(as: you)
      log.info("joined", metadata: ["user": "\(you)", "others": "\(others.count)"])
      for other in others { participants.announced(other) }
    case .participantJoined(let participant):
      participants.announced(participant)
      log.log(
        level: participant.isExpected ? .debug : .info, "user joined", metadata: metadata(of: participant.id))
    case .participantLeft(let id, _):
      let level: Logger.Level = participants.isExpected(id) ? .debug : .info
      log.log(level: level, "user left", metadata: metadata(of: id))
      participants.left(id)
    case .connectionLost(let reason, let delay):
      // Before we have joined, it ends the session.
      guard participants.ownID != nil else { break }
      let tenths = Int((delay.seconds * 10).rounded())
      let retry = "\(tenths / 10).\(tenths % 10) s"
      log.warning("server lost, calls continue", metadata: ["reason": "\(reason)", "retryDelay": "\(retry)"])
    case .iceServers, .message, .rejected, .closed:
      break
    }
  }
}
