import Media

/// How long a chunk may be overtaken by others before it counts as lost (RFC 8985, 6.2).
///
/// Until reordering is noticed, a distance of three packets shows a loss as well.
struct ReorderingWindow: Sendable {
  /// Quarters of a round trip that are added to it; 0 if no reordering was noticed.
  private(set) var quarters = 0
  /// The TSN that must be acknowledged before the window grows again: once for each round trip.
  private var growsAfter = Int64.min
  /// The losses after which reordering counts as over.
  private var remainingLosses = 0

  private static let maximumQuarters = 4
  private static let lossesUntilReset = 16

  var hasReordering: Bool { quarters > 0 }

  /// Returns the time after its transmission at which an overtaken chunk is lost.
  func wait(roundTrip: Duration) -> Duration { roundTrip + roundTrip * max(1, quarters) / 4 }

  /// A chunk arrived that had been retransmitted needlessly.
  mutating func spuriousRetransmission(cumulativeTSN: Int64, highestTSN: Int64) {
    remainingLosses = Self.lossesUntilReset
    guard cumulativeTSN >= growsAfter else { return }
    growsAfter = highestTSN
    quarters = min(quarters + 1, Self.maximumQuarters)
  }

  /// Chunks were lost.
  mutating func lossDetected() {
    guard hasReordering else { return }
    remainingLosses -= 1
    if remainingLosses <= 0 { quarters = 0 }
  }
}
