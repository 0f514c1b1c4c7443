/// What has been counted of one received track since it began.
public struct TrackStatistics: Sendable, Hashable, Codable {
  /// The numbers that the sender has used, from the first packet that was taken to the newest that is settled, padding
  /// included: `packetsReceived` + `packetsPadding` + `packetsLost`, once nothing is waited for any more.
  public var packetsExpected: UInt64 = 0
  /// RTP packets that carried media, retransmissions that filled a hole included, duplicates not.
  public var packetsReceived: UInt64 = 0
  /// Packets that carried nothing but padding, each number counted once.
  public var packetsPadding: UInt64 = 0
  /// Packets that never came and were given up.
  public var packetsLost: UInt64 = 0
  /// Packets among `packetsReceived` that came after they had been given up, too late to be of use.
  public var packetsLate: UInt64 = 0
  /// Packets that came only after they were requested again.
  public var packetsRecovered: UInt64 = 0
  /// Packets that came more than once.
  public var packetsDuplicated: UInt64 = 0
  /// Bytes of media payload received.
  public var bytesReceived: UInt64 = 0
  /// Frames handed on.
  public var frames: UInt64 = 0
  /// Keyframes among them.
  public var keyframes: UInt64 = 0
  /// Frames that were started but could not be completed, or depended on one that was not.
  public var framesDropped: UInt64 = 0
  /// Keyframes asked of the sender.
  public var keyframeRequests: UInt64 = 0
  /// NACKed sequence numbers, each request counted.
  public var packetsRequested: UInt64 = 0
  /// Interarrival jitter in seconds (RFC 3550, 6.4.1).
  public var jitter: Double = 0
  /// Bits a second over the last second or so.
  public var bitrate: Double = 0

  public init() {}
}

/// The counts of one track over a whole call, although they can begin again in it: when a section of the description is taken
/// away and comes back, its track counts from zero.
package struct CumulativeTrackStatistics: Sendable {
  /// The counts of all tracks before the one that counts now.
  private var base = TrackStatistics()
  private var latest = TrackStatistics()

  package init() {}

  /// Takes the newest counts.
  package mutating func update(_ counts: TrackStatistics) {
    let hasRestarted =
      counts.packetsExpected < latest.packetsExpected || counts.packetsReceived < latest.packetsReceived
    if hasRestarted { base = total }
    latest = counts
  }

  /// The sum of all; jitter and bitrate are the newest.
  package var total: TrackStatistics {
    var sum = latest
    for count in Self.counts { sum[keyPath: count] &+= base[keyPath: count] }
    return sum
  }

  private static var counts: [WritableKeyPath<TrackStatistics, UInt64>] {
    [
      \.packetsExpected, \.packetsReceived, \.packetsPadding, \.packetsLost, \.packetsLate, \.packetsRecovered,
      \.packetsDuplicated, \.bytesReceived, \.frames, \.keyframes, \.framesDropped, \.keyframeRequests,
      \.packetsRequested,
    ]
  }
}
