/// Records the times without the room server. Calls continue without it, but no new peer is reported.
struct SignallingLossDetector: Sendable {
  /// The maximum number of recorded losses.
  private static let maximumCount = 1_000

  private var losses: [SignallingLoss] = []
  private var isLost = false

  /// Records a loss of the connection. A failed attempt to reconnect is part of the same loss.
  mutating func lost(at time: Double, because reason: String) {
    if isLost || losses.count == Self.maximumCount { return }
    isLost = true
    losses.append(SignallingLoss(start: roundedForReport(time), duration: 0, restored: false, reason: reason))
  }

  mutating func restored(at time: Double) {
    guard isLost, let last = losses.indices.last else { return }
    isLost = false
    losses[last].duration = roundedForReport(max(0, time - losses[last].start))
    losses[last].restored = true
  }

  /// Returns all losses; one that is not over lasts until `end`.
  func losses(until end: Double) -> [SignallingLoss] {
    losses.map { loss in
      var loss = loss
      if !loss.restored { loss.duration = roundedForReport(max(0, end - loss.start)) }
      return loss
    }
  }
}
