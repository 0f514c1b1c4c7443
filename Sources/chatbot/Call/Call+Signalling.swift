import BotPeer
import Logging
import Media
import Signalling
import SkyRTC

/// Events of the room server.
extension Call {
  /// Forwards the server's events to the peer.
  func followSignalling(_ parts: Parts) async -> EndReason {
    var hasJoined = false
    for await event in parts.client.events {
      observer?.received(event, at: .now)
      switch event {
      case .joined(let you, let others):
        hasJoined = true
        let isSomeoneElse = parts.participantRegistry.joined(as: you.text)
        log.info("joined", metadata: ["user": "\(you)", "others": "\(others.count)"])
        // A newcomer sends offers to everyone in the room. A call that outlived the connection to the server continues.
        // If the server has assigned us a new id, the other peers have seen our old id leave: their call continues as
        // long as their media arrives. When they end it, we call them again.
        var pace = OfferPace()
        for other in others {
          parts.participantRegistry.announced(other)
          if other.offerer == .remote {
            parts.peer.call(other)
          } else if parts.participantRegistry.begin(other.id) {
            await pace.next()
            parts.peer.call(other)
          } else if isSomeoneElse {
            parts.participantRegistry.reconnectAfterEnd(other)
            parts.peer.participantLeft(other.id)
          } else {
            parts.peer.repeatOffer(to: other.id)
          }
        }
      case .participantJoined(let participant):
        var metadata: Logger.Metadata = ["user": "\(participant.id)"]
        if let name = participant.name { metadata["name"] = "\(name.printable())" }
        log.log(level: participant.isExpected ? .debug : .info, "user joined", metadata: metadata)
        parts.participantRegistry.announced(participant)
        if participant.offerer == .local { _ = parts.participantRegistry.begin(participant.id) }
        parts.peer.call(participant)
      case .iceServers(let servers):
        // Their candidates are trickled, so that a slow name server does not delay the call.
        let use = Task { [log] in
          for problem in await parts.peer.use(servers) { log.warning("\(problem)") }
        }
        if !parts.client.capabilities.tricklesCandidates { await use.value }
      case .participantLeft(let id, _):
        let level: Logger.Level = parts.participantRegistry.isExpected(id) ? .debug : .info
        log.log(level: level, "user left", metadata: ["user": "\(id)"])
        parts.participantRegistry.left(id)
        // A participant who lost only the connection to the server is still recorded as long as media arrives.
        parts.peer.receive(event)
      case .message:
        parts.peer.receive(event)
      case .connectionLost(let reason, _) where !hasJoined:
        return .notAdmitted(reason)
      case .rejected(let reason):
        return hasJoined ? .rejected(reason) : .notAdmitted(reason)
      case .closed(let reason):
        return hasJoined ? .signallingClosed(reason) : .notAdmitted(reason)
      case .connectionLost(let reason, let delay):
        let tenths = Int((delay.seconds * 10).rounded())
        let retry = "\(tenths / 10).\(tenths % 10) s"
        log.warning("server lost, calls continue", metadata: ["reason": "\(reason)", "retryDelay": "\(retry)"])
      }
    }
    return .signallingEnded
  }
}

/// Paces the offers to a full room: each one needs a certificate and causes an answer, candidates and connectivity
/// checks.
struct OfferPace {
  /// The number of offers sent together, and the pause before the next group.
  static let group = 10
  static let pause = Duration.milliseconds(50)

  private var count = 0

  /// Waits until the next offer may be sent.
  mutating func next() async {
    if count > 0, count.isMultiple(of: Self.group) { try? await MediaThread.loop.sleep(for: Self.pause) }
    count += 1
  }
}
