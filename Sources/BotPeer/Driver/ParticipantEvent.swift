public import Media

/// A ``PeerEvent``, whose it is, and when it happened.
public struct ParticipantEvent: Sendable, Hashable {
  public var participant: ParticipantID
  public var event: PeerEvent
  /// When it happened; whoever takes it may come to it later.
  public var time: ContinuousClock.Instant { moment.instant }
  private var moment: Moment

  public init(participant: ParticipantID, event: PeerEvent, time: ContinuousClock.Instant) {
    self.participant = participant
    self.event = event
    moment = Moment(time)
  }
}
