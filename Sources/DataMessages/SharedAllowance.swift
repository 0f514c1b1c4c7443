package import Media

/// How much all participants of a call together may make us keep.
///
/// Each participant has a limit of their own, and at most an eighth of what is left of the common one. So nobody uses it up by
/// leaving and coming back under new ids: others always find a part of it. With time it returns.
package struct SharedAllowance: Sendable {
  private let capacity: Int64
  private let perParticipant: Int64
  private let perSecond: Int64
  private var used = 0.0
  private var updated: MonotonicInstant?

  /// How many participants could use the common limit at once.
  private static let parts = 8.0

  /// - Parameters:
  ///   - capacity: for all participants together.
  ///   - perParticipant: for each of them.
  ///   - perSecond: how much of the common limit returns in a second.
  package init(capacity: Int64, perParticipant: Int64, perSecond: Int64 = 0) {
    self.capacity = capacity
    self.perParticipant = perParticipant
    self.perSecond = perSecond
  }

  /// Takes an amount for a participant.
  ///
  /// - Parameter taken: what the participant has taken so far.
  /// - Returns: false if it is beyond one of the limits. Nothing is taken then.
  package mutating func take(_ amount: Int64, by taken: Int64, now: MonotonicInstant) -> Bool {
    refill(now: now)
    let left = Double(capacity) - used + Double(taken)
    guard amount >= 0, amount <= perParticipant - taken, Double(taken) + Double(amount) <= left / Self.parts else {
      return false
    }
    used += Double(amount)
    return true
  }

  /// Returns what was taken and not used.
  package mutating func giveBack(_ amount: Int64) {
    used = max(0, used - Double(max(0, amount)))
  }

  private mutating func refill(now: MonotonicInstant) {
    defer { updated = now }
    guard perSecond > 0, let updated, used > 0 else { return }
    used = max(0, used - (now - updated) / .seconds(1) * Double(perSecond))
  }
}
