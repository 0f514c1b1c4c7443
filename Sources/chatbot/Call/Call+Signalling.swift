import BotPeer
import Logging
import Media
import Room
import Signalling

/// What happens in the room: stored and logged; the session acts on it.
extension Call {
  /// Runs the session until the peer is closed and has delivered all events.
  func runSession(_ parts: Parts) async {
    var connections = ConnectionLog()
    await parts.session.run { event in
      switch event {
      case .signalling(let event): received(event, parts)
      case .connection(let event): received(event, &connections, parts)
      case .problem(let sentence): log.warning("\(sentence)")
      case .ended(let reason): parts.participantRegistry.end(reason)
      }
    }
  }

  private func received(_ event: SignallingEvent, _ parts: Parts) {
    observer?.received(event, at: .now)
    switch event {
    case .joined(let you, let others):
      parts.participantRegistry.joined(as: you)
      log.info("joined", metadata: ["user": "\(you)", "others": "\(others.count)"])
      for other in others { parts.participantRegistry.announced(other) }
    case .participantJoined(let participant):
      var metadata: Logger.Metadata = ["user": "\(participant.id)"]
      if let name = participant.name { metadata["name"] = "\(name.printable())" }
      log.log(level: participant.isExpected ? .debug : .info, "user joined", metadata: metadata)
      parts.participantRegistry.announced(participant)
    case .participantLeft(let id, _):
      let level: Logger.Level = parts.participantRegistry.isExpected(id) ? .debug : .info
      log.log(level: level, "user left", metadata: ["user": "\(id)"])
      parts.participantRegistry.left(id)
    case .connectionLost(let reason, let delay):
      // Before we have joined, it ends the session.
      guard parts.participantRegistry.ownID != nil else { break }
      let tenths = Int((delay.seconds * 10).rounded())
      let retry = "\(tenths / 10).\(tenths % 10) s"
      log.warning("server lost, calls continue", metadata: ["reason": "\(reason)", "retryDelay": "\(retry)"])
    case .iceServers, .message, .rejected, .closed:
      break
    }
  }
}
