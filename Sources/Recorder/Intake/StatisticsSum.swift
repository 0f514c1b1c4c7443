import Media

/// The counts of one track over a whole call, although they can begin anew in it: when a section of the description is
/// taken away and comes back, its track counts from zero.
struct StatisticsSum: Sendable {
  /// The counts of all tracks before the one that counts now.
  private var base = TrackStatistics()
  private var latest = TrackStatistics()

  /// Takes the newest counts.
  mutating func take(_ counts: TrackStatistics) {
    let begunAnew =
      counts.packetsExpected < latest.packetsExpected || counts.packetsReceived < latest.packetsReceived
    if begunAnew { base = total }
    latest = counts
  }

  /// The sum of all.
  var total: TrackStatistics {
    var sum = latest
    for count in Self.counts { sum[keyPath: count] &+= base[keyPath: count] }
    return sum
  }

  /// All that is counted; jitter and bitrate are those of now.
  private static var counts: [WritableKeyPath<TrackStatistics, UInt64>] {
    [
      \.packetsExpected, \.packetsReceived, \.packetsPadding, \.packetsLost, \.packetsLate, \.packetsRecovered,
      \.packetsDuplicated, \.bytesReceived, \.frames, \.keyframes, \.framesDropped, \.keyframeRequests,
      \.packetsRequested,
    ]
  }
}
