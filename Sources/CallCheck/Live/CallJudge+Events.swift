public import Media
public import PeerEngine
public import Signalling

/// What a program passes on from its signalling client and its peer.
extension CallJudge {
  /// Processes an event of the signalling client.
  public func received(_ event: SignallingEvent, at now: ContinuousClock.Instant) {
    for job in JudgeQueue.Job.all(of: event, at: now) { perform(job) }
  }

  /// Processes an event of the connection to a peer. Media that goes to media sinks is not among these events.
  public func received(_ event: PeerEvent, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    for event in CheckEvent.all(of: event) { receive(event, of: peer, at: now) }
  }

  /// Processes an event of a peer's media.
  public func received(_ event: MediaEvent, of peer: ParticipantID, at now: ContinuousClock.Instant) {
    if let event = CheckEvent(event) { receive(event, of: peer, at: now) }
  }

  /// Records the counters of the connection to a peer; called once a second and at the end.
  public func sampled(_ statistics: PeerStatistics, at now: ContinuousClock.Instant) {
    receive(.sample(ConnectionSample(statistics)), of: statistics.participant, at: now)
  }

  /// Performs a job that changes the state; has no effect for the others.
  func perform(_ job: JudgeQueue.Job) {
    switch job {
    case .joined(let now): joined(at: now)
    case .announced(let participant, let name, let onlyReceives):
      announced(participant, name: name, onlyReceives: onlyReceives)
    case .disconnected(let reason, let now): disconnected(at: now, because: reason)
    case .event(let event, let peer, let now): receive(event, of: peer, at: now)
    case .sent(let frame, let now): sent(frame, at: now)
    case .failed(let sentence): failed(sentence)
    case .status, .over: break
    }
  }
}
