package import Media
package import Signalling
import Synchronization

/// The ids of the participants that send what clients publish with WHIP. They receive nothing and so do not connect to
/// each other: in a room of a hundred they would have thousands of connections.
package final class RoomPublisherIDs: Sendable {
  private let ids = Mutex<Set<ParticipantID>>([])

  package init() {}

  /// Replaces the former id of a participant. The new one is nil when the participant has left.
  package func replace(_ former: ParticipantID?, by new: ParticipantID?) {
    ids.withLock { ids in
      if let former { ids.remove(former) }
      if let new { ids.insert(new) }
    }
  }

  /// Returns an event without these participants; nil if it concerns only one of them.
  package func removed(from event: SignallingEvent) -> SignallingEvent? {
    ids.withLock { ids in
      switch event {
      case .joined(let id, let others): .joined(id: id, others: others.filter { !ids.contains($0.id) })
      case .participantJoined(let participant): ids.contains(participant.id) ? nil : event
      case .message(_, let participant): ids.contains(participant) ? nil : event
      case .participantLeft, .iceServers, .connectionLost, .rejected, .closed: event
      }
    }
  }
}
