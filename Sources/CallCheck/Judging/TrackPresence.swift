/// When a track was there: from its first decoded media until its stream ended, and, if the stream continued later, from its
/// next media on.
struct TrackPresence: Sendable {
  /// Far more intervals than any stream has.
  static let maximumCount = 200

  /// The intervals until the stream ended, in order.
  private var earlier: [ClosedRange<Double>] = []
  private var since: Double?

  var isFull: Bool { earlier.count >= Self.maximumCount }

  /// Records that media was decoded.
  mutating func decoded(at time: Double) { since = since ?? roundedForReport(time) }

  /// Records that media arrived. A track that was there before is there again, whether or not it can be decoded.
  mutating func arrived(at time: Double) {
    if !earlier.isEmpty { decoded(at: time) }
  }

  /// Records that the stream ended.
  mutating func ended(at time: Double) {
    if let since { earlier.append(since...max(since, time)) }
    since = nil
  }

  /// Returns the intervals in order; none if nothing was ever decoded.
  ///
  /// - Parameter end: when the media ended.
  func intervals(until end: Double) -> [ClosedRange<Double>] {
    earlier + (since.map { [$0...max($0, end)] } ?? [])
  }
}
