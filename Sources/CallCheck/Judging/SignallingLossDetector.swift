/// Notes when the room's server was not there. Calls continue without it, but nobody new is heard of.
struct SignallingLossDetector: Sendable {
  /// Losses that are told at most; a server that comes and goes more often than that has been told of enough.
  private static let most = 1_000

  private var losses: [SignallingLoss] = []
  private var isLost = false

  /// The line broke, or could not be made again: that is the same loss.
  mutating func lost(at time: Double, because reason: String) {
    if isLost || losses.count == Self.most { return }
    isLost = true
    losses.append(SignallingLoss(start: roundedForReport(time), duration: 0, regained: false, reason: reason))
  }

  mutating func regained(at time: Double) {
    guard isLost, let last = losses.indices.last else { return }
    isLost = false
    losses[last].duration = roundedForReport(max(0, time - losses[last].start))
    losses[last].regained = true
  }

  /// All of them; one that is not over lasts until its end.
  func losses(until end: Double) -> [SignallingLoss] {
    losses.map { loss in
      var loss = loss
      if !loss.regained { loss.duration = roundedForReport(max(0, end - loss.start)) }
      return loss
    }
  }
}
