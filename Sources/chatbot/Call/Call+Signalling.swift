import BotPeer
import Logging
import Media
import Signalling
import SkyRTC

/// What the room server says.
extension Call {
  /// Carries what the server says to the peer.
  func followSignalling(_ parts: Parts) async -> EndReason {
    var hasJoined = false
    for await event in parts.client.events {
      observer?.heard(event, at: .now)
      switch event {
      case .joined(let you, let others):
        hasJoined = true
        let isSomeoneElse = parts.participantRegistry.joined(as: you.text)
        log.info("joined", metadata: ["id": "\(you)", "others": "\(others.count)"])
        // A newcomer offers to those who are there. A call that outlived the server continues. If the server knows us by
        // another name now, those who are there have seen us leave: it continues for as long as their media comes, and when they
        // have ended it, we call them again.
        var pace = OfferPace()
        for other in others {
          if parts.participantRegistry.begin(other) {
            await pace.next()
            parts.peer.offer(to: other)
          } else if isSomeoneElse {
            parts.participantRegistry.callAgainAfterEnd(other)
            parts.peer.participantLeft(other)
          }
        }
      case .participantJoined(let id):
        log.info("user joined", metadata: ["user": "\(id)"])
      case .participantLeft(let id, _):
        log.info("user left", metadata: ["user": "\(id)"])
        parts.participantRegistry.forgetCallingAgain(id)
        // Whose way to the server alone broke is still recorded, as long as media comes.
        parts.peer.receive(event)
      case .message:
        parts.peer.receive(event)
      case .connectionLost(let reason, _) where !hasJoined:
        return .notAdmitted(reason)
      case .connectionLost(let reason, let delay):
        let tenths = Int((delay.seconds * 10).rounded())
        let retry = "\(tenths / 10).\(tenths % 10) s"
        log.warning("server lost, calls continue", metadata: ["reason": "\(reason)", "retry": "\(retry)"])
      }
    }
    return .signallingEnded
  }
}

/// Lets offers to a full room leave a few at a time: each takes a certificate and brings an answer, candidates and checks.
struct OfferPace {
  /// How many leave together, and how long it takes until the next ones do.
  static let group = 10
  static let pause = Duration.milliseconds(50)

  private var count = 0

  /// Waits until the next offer may leave.
  mutating func next() async {
    if count > 0, count.isMultiple(of: Self.group) { try? await MediaThread.loop.sleep(for: Self.pause) }
    count += 1
  }
}
