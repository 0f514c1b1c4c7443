package import Media

/// Computes the bitrate limit for a sender without transport-wide feedback (REMB): unlimited while hardly anything is lost,
/// lower when much is.
///
/// Loss alone is a late sign of a congested path; a sender with transport-wide feedback estimates by delay itself and needs
/// no limit.
package struct ReceiverBitrateEstimator: Sendable {
  /// The limit on a good path, in bits a second: far above what a camera in a call sends.
  package static let ceiling: Double = 5_000_000
  /// The minimum limit.
  package static let floor: Double = 150_000
  /// The time between two reports.
  package static let interval: Duration = .seconds(1)

  /// The limit in bits a second.
  package private(set) var limit: Double

  private var nextReport: MonotonicInstant?

  package init(initial: Double = ReceiverBitrateEstimator.ceiling) {
    limit = min(max(initial, Self.floor), Self.ceiling)
  }

  package var deadline: MonotonicInstant? { nextReport }

  /// Starts reporting, when the first media packet has arrived.
  package mutating func start(now: MonotonicInstant) {
    if nextReport == nil { nextReport = now }
  }

  /// Returns the limit to report now, or nil if none is due.
  ///
  /// - Parameters:
  ///   - received: the received bitrate in bits a second.
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
