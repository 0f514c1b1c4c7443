package import Media

/// What a sender without transport-wide feedback is told that it may send at most (REMB): all it likes while hardly
/// anything is lost, less when much is.
///
/// Loss alone is a late sign of a congested path; a sender that speaks transport-wide feedback judges by delay itself and
/// needs no such number.
package struct ReceiverBitrateEstimator: Sendable {
  /// The limit that a good line reaches, in bits a second: far above what a camera of a call sends.
  package static let ceiling: Double = 5_000_000
  /// The limit below which it never goes.
  package static let floor: Double = 150_000
  /// The time between two reports.
  package static let interval: Duration = .seconds(1)

  /// Bits a second.
  package private(set) var limit: Double

  private var nextReport: MonotonicInstant?

  package init(initial: Double = ReceiverBitrateEstimator.ceiling) {
    limit = min(max(initial, Self.floor), Self.ceiling)
  }

  package var deadline: MonotonicInstant? { nextReport }

  /// Begins to report, as soon as the first packet of media has come.
  package mutating func start(now: MonotonicInstant) {
    if nextReport == nil { nextReport = now }
  }

  /// Gives the limit to report now, or nil when none is due.
  ///
  /// - Parameters:
  ///   - received: bits a second that arrive.
  ///   - fractionLost: the share of packets that did not arrive, 0 to 1, since the last report.
  package mutating func poll(received: Double, fractionLost: Double, now: MonotonicInstant) -> UInt64? {
    guard let due = nextReport, due <= now else { return nil }
    nextReport = now + Self.interval
    if fractionLost > 0.1 {
      limit = min(limit, received * (1 - 0.5 * fractionLost))
    } else if fractionLost < 0.02 {
      limit = limit * 1.25 + 50_000
    }
    limit = min(max(limit, Self.floor), Self.ceiling)
    return UInt64(limit)
  }
}
