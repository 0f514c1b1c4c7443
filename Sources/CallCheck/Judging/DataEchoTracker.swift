/// Counts the numbered messages that one peer sends back on a data channel. Times are in seconds on any axis.
package struct DataEchoTracker: Sendable {
  /// How long a message may take to come back before it counts as lost.
  private static let returnTimeout = 2.0
  /// How many messages may be under way; further ones are not sent.
  package static let maximumPending = 16_384

  private var report = DataReport()
  /// When each message that is under way was sent, by number.
  private var pending: [UInt64: Double] = [:]
  private var next: UInt64 = 0
  private var highest: UInt64?
  private var roundTrips = Samples()
  private var bytes = 0
  private var first: Double?
  private var last: Double?

  package init() {}

  /// - Parameter duration: the time since the channel was asked for.
  package mutating func opened(after duration: Double) {
    report.open = report.open ?? roundedForReport(duration)
  }

  /// Returns the number of the next message, which is sent now; nil if too many are under way.
  package mutating func send(at time: Double) -> UInt64? {
    guard pending.count < Self.maximumPending else { return nil }
    defer { next += 1 }
    pending[next] = time
    report.sent += 1
    return next
  }

  package mutating func returned(_ number: UInt64, bytes count: Int, at time: Double) {
    guard let sent = pending.removeValue(forKey: number) else {
      report.disordered += 1
      return
    }
    report.returned += 1
    if let highest, number < highest { report.disordered += 1 }
    highest = max(highest ?? number, number)
    roundTrips.add(time - sent)
    if first == nil { first = time } else { bytes += count }
    last = time
  }

  /// The totals; what was sent less than 2 s ago is not lost yet.
  package func report(at time: Double) -> DataReport {
    var report = report
    report.lost = pending.values.count { time - $0 > Self.returnTimeout }
    report.roundTrip = roundTrips.spread
    if let first, let last, last > first { report.throughput = roundedForReport(Double(bytes) * 8 / (last - first)) }
    return report
  }
}
