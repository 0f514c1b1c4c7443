public import Media

/// A ``PeerEvent`` and whose it is.
public struct ParticipantEvent: Sendable, Hashable {
  public var participant: ParticipantID
  public var event: PeerEvent

  public init(participant: ParticipantID, event: PeerEvent) {
    self.participant = participant
    self.event = event
  }
}
