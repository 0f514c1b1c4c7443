internal import ICE

/// How far connecting has come, for whoever wants to know where it ended.
extension PeerEngine {
  /// Tells of a milestone, the first time.
  func reach(_ milestone: ConnectionMilestone) {
    guard milestones.insert(milestone).inserted else { return }
    emit(.reached(milestone))
  }

  /// Tells of those that the ICE agent has reached.
  func followMilestones() {
    if agent.statistics.checksSent > 0 { reach(.checksBegun) }
    if agent.statistics.checksAnswered > 0 { reach(.checkAnswered) }
    if agent.selectedPair != nil { reach(.iceConnected) }
  }
}
