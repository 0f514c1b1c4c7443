/// The clock of a node less that of the database, from the times of requests. Pure.
package struct NodeClock: Sendable, Hashable {
  package struct Estimate: Sendable, Hashable {
    /// Milliseconds.
    package var offset: Int64
    /// How wrong it may be: half of the time that the request took, and a millisecond for rounding.
    package var error: Int64

    package init(offset: Int64, error: Int64) {
      self.offset = offset
      self.error = error
    }
  }

  private var samples: [Estimate] = []
  /// With one in 10 s, those of the last two minutes.
  private static let maximumSamples = 12

  package init() {}

  /// The best of the last estimates; nil before the first.
  package var best: Estimate? { samples.min { $0.error < $1.error } }

  /// Takes the times of a request, all in milliseconds since 1970.
  ///
  /// - Parameters:
  ///   - sent: by the clock of the node.
  ///   - received: by the clock of the node.
  ///   - database: the clock of the database between the two.
  package mutating func add(sent: Int64, received: Int64, database: Int64) {
    let (took, overflow) = received.subtractingReportingOverflow(sent)
    guard !overflow, took >= 0 else { return }
    let (offset, isTooFar) = (sent + took / 2).subtractingReportingOverflow(database)
    guard !isTooFar else { return }
    samples.append(Estimate(offset: offset, error: (took + 1) / 2 + 1))
    if samples.count > Self.maximumSamples { samples.removeFirst() }
  }
}
