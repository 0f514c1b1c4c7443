/// Who is controlling when both sides think that they are, or neither (RFC 8445, 7.3.1.1 and 7.2.5.1).
extension ICEAgent {
  /// Compares the roles that both sides take; the higher tie-breaker is controlling.
  ///
  /// - Returns: false when the request is to be refused, because the other side has to change.
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

  /// Takes the other role; what was nominated by the wrong side no longer is, and running checks start again.
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
