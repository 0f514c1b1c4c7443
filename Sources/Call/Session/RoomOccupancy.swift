package import BotPeer
package import Media
package import Signalling

/// Decides when a call ends because nobody else is in the room. Pure: events with their times in, a deadline out.
///
/// A user is there from the moment when the signalling announces them until it says that they have left and their connection has
/// ended. A media server that only receives what we publish is nobody.
package struct RoomOccupancy: Sendable {
  /// The maximum number of ids that are kept.
  private static let maximumUsers = 100_000

  private let emptyLimit: Duration?
  private let nobodyLimit: Duration?
  private var present: Set<ParticipantID> = []
  private var connected: Set<ParticipantID> = []
  private var mediaServers: Set<ParticipantID> = []
  private var hasSeenSomebody = false
  private var joinedAt: MonotonicInstant?
  /// Since when nobody is there, after somebody was.
  private var emptySince: MonotonicInstant?

  /// - Parameters:
  ///   - emptyLimit: how long nobody may be there after somebody was; nil for any time.
  ///   - nobodyLimit: how long to wait for the first user after we joined; nil for any time.
  package init(emptyLimit: Duration?, nobodyLimit: Duration?) {
    self.emptyLimit = emptyLimit
    self.nobodyLimit = nobodyLimit
  }

  /// When ``endReason(now:)`` should be asked next; nil while only an event can change it.
  package var deadline: MonotonicInstant? {
    guard hasSeenSomebody else {
      guard let joinedAt, let nobodyLimit else { return nil }
      return joinedAt + nobodyLimit
    }
    guard let emptySince, let emptyLimit else { return nil }
    return emptySince + emptyLimit
  }

  /// Why the call ends, if it does.
  package func endReason(now: MonotonicInstant) -> RoomCall.EndReason? {
    guard let deadline, now >= deadline else { return nil }
    return hasSeenSomebody ? emptyLimit.map { .roomEmpty($0) } : nobodyLimit.map { .nobodyCame($0) }
  }

  /// Takes an event of the signalling.
  package mutating func received(_ event: SignallingEvent, now: MonotonicInstant) {
    switch event {
    case .joined(_, let others):
      joinedAt = joinedAt ?? now
      present = []
      for other in others { announce(other) }
    case .participantJoined(let participant): announce(participant)
    case .participantLeft(let id, _): present.remove(id)
    case .message, .iceServers, .connectionLost, .rejected, .closed: return
    }
    update(now: now)
  }

  /// Takes an event of the connection to a participant.
  package mutating func received(_ event: PeerEvent, of participant: ParticipantID, now: MonotonicInstant) {
    switch event {
    case .stateChanged(.connected):
      if connected.count < Self.maximumUsers, !mediaServers.contains(participant) { connected.insert(participant) }
    case .ended: connected.remove(participant)
    default: return
    }
    update(now: now)
  }

  private mutating func announce(_ participant: SignalledParticipant) {
    if participant.direction == .sendOnly {
      if mediaServers.count < Self.maximumUsers { mediaServers.insert(participant.id) }
    } else if participant.isExpected {
      // They may not be there yet; a connection shows that they are.
      present.remove(participant.id)
    } else if present.count < Self.maximumUsers {
      present.insert(participant.id)
    }
  }

  private mutating func update(now: MonotonicInstant) {
    if !present.isEmpty || !connected.isEmpty {
      hasSeenSomebody = true
      emptySince = nil
    } else if hasSeenSomebody, emptySince == nil {
      emptySince = now
    }
  }
}
