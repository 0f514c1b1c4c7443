internal import ICE
internal import NIOCore

/// The path of outgoing datagrams, which follows the ICE agent.
struct SelectedPath {
  /// What has followed from something that has happened to the agent.
  struct Update {
    enum Condition {
      case unchanged
      /// The participant does not respond on the path.
      case interrupted
      /// The participant responds.
      case restored
      /// The participant responds on no path any more.
      case lost
    }

    /// Whether a message was discarded.
    var isRefused = false
    /// The datagrams to send.
    var datagrams: [(datagram: ByteBuffer, path: ICETransport.Path)] = []
    /// The milestones that were reached for the first time.
    var milestones: [ConnectionMilestone] = []
    /// The types of the selected pair's candidates, if they have changed.
    var candidateTypes: CandidateTypes?
    var roundTrip: Duration?
    var condition = Condition.unchanged
  }

  /// The selected pair, or before there is one the pair on which the handshake arrived; nil if there is none.
  private(set) var path: ICETransport.Path?
  /// The types of the candidates of the pair that was selected last.
  private(set) var candidateTypes: CandidateTypes?
  /// Whether there was a path whose other end no longer responds.
  private var hasLostPath = false
  private var milestones: Set<ConnectionMilestone> = []

  /// Whether there was a path and there is none any more.
  var isLost: Bool { path == nil && hasLostPath }

  /// Uses a path on which the participant has answered, if there is none.
  mutating func use(_ usable: ICETransport.Path) { path = path ?? usable }

  /// Uses no path any more.
  mutating func giveUp() { path = nil }

  /// Applies the agent's state: the selected pair, and whether the participant still responds.
  mutating func update(from agent: ICEAgent) -> Update {
    var update = Update()
    if let pair = agent.selectedPair {
      path = ICETransport.Path(local: pair.local, remote: pair.remote)
      let types = CandidateTypes(local: pair.localType, remote: pair.remoteType, transport: pair.local.transport)
      if types != candidateTypes { update.candidateTypes = types }
      candidateTypes = types
      update.roundTrip = pair.roundTripTime
    } else if let former = path, !agent.hasAnswered(local: former.local, remote: former.remote) {
      // The other end's consent to receive has expired (RFC 7675, 5.1), or our relay has gone.
      path = nil
      hasLostPath = true
      update.condition = .interrupted
    }
    switch agent.state {
    case .failed:
      // Before there was a path, only the timeout for connecting counts: a check may still succeed.
      if path != nil || hasLostPath { update.condition = .lost }
    case .disconnected:
      update.condition = .interrupted
    case .connected, .completed:
      if update.condition == .unchanged { update.condition = .restored }
    case .new, .checking:
      break
    }
    return update
  }

  /// Returns the milestones that the agent has reached for the first time.
  mutating func takeMilestones(of agent: ICEAgent) -> [ConnectionMilestone] {
    if milestones.contains(.iceConnected) { return [] }
    let statistics = agent.statistics
    var reached: [ConnectionMilestone] = []
    if statistics.checksSent > 0 { reached.append(.checksBegun) }
    if statistics.checksAnswered > 0 { reached.append(.checkAnswered) }
    if agent.selectedPair != nil { reached.append(.iceConnected) }
    return reached.filter { milestones.insert($0).inserted }
  }
}
