/// Role conflicts: both sides are controlling, or both controlled (RFC 8445, 7.3.1.1 and 7.2.5.1).
extension ICEAgent {
  /// Compares the roles of both sides and resolves a conflict: the side with the higher tie-breaker is controlling.
  ///
  /// - Returns: false when the request must be refused because the remote peer has to switch its role.
  mutating func resolveRoleConflict(_ request: STUNMessage, now: ContinuousClock.Instant) -> Bool {
    switch role {
    case .controlling:
      guard let theirs = request.iceControlling else { return true }
      if tieBreaker >= theirs { return false }
    case .controlled:
      guard let theirs = request.iceControlled else { return true }
      if tieBreaker < theirs { return false }
    }
    switchRole(now: now)
    return true
  }

  /// Switches the role. Nominations by the wrong side are dropped, and checks in progress start again.
  mutating func switchRole(now: ContinuousClock.Instant) {
    role = role.other
    tieBreaker = .random(in: .min ... .max, using: &generator)
    nominated = nil
    transactions = []
    for index in checkList.indices {
      checkList[index].updatePriority(role: role)
      checkList[index].isNominated = false
      checkList[index].isNominatedOnSuccess = false
      if checkList[index].state == .inProgress {
        checkList[index].state = .waiting
        if checkList[index].hasAuthenticRequest { checkList.trigger(checkList[index].id) }
      }
    }
    wake = wake ?? now
  }
}
