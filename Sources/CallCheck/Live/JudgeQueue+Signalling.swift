import Media
package import Signalling

extension JudgeQueue.Job {
  /// Returns the jobs for an event of the signalling, in order.
  package static func all(of event: SignallingEvent, at now: ContinuousClock.Instant) -> [Self] {
    switch event {
    case .joined(_, let others):
      [.joined(now)] + others.map(announced) + others.map { .event(.step(.appeared), $0.id, now) }
    case .participantJoined(let participant):
      [announced(participant), .event(.step(.appeared), participant.id, now)]
    case .message(let message, let participant):
      CheckEvent.all(of: message).map { .event($0, participant, now) }
    case .connectionLost(let reason, _):
      [.disconnected(reason, now)]
    case .participantLeft, .iceServers, .rejected, .closed:
      // A peer that lost only its connection to the server is still present as long as media arrives.
      []
    }
  }

  private static func announced(_ participant: SignalledParticipant) -> Self {
    .announced(participant.id, name: participant.name, onlyReceives: participant.direction == .sendOnly)
  }
}
