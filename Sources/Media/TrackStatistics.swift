/// The statistics of one received track since it began.
public struct TrackStatistics: Sendable, Hashable, Codable {
  /// The sequence numbers that the sender has used, from the first accepted packet to the newest whose fate is known,
  /// padding included: `packetsReceived` + `packetsPadding` + `packetsLost`, once no packet is missing any more.
  public var packetsExpected: UInt64 = 0
  /// RTP packets with media, including retransmissions that filled a gap, excluding duplicates.
  public var packetsReceived: UInt64 = 0
  /// Packets with padding only, each sequence number counted once.
  public var packetsPadding: UInt64 = 0
  /// Packets that never arrived and were given up.
  public var packetsLost: UInt64 = 0
  /// Packets among `packetsReceived` that arrived after they had been given up, too late to be used.
  public var packetsLate: UInt64 = 0
  /// Packets that arrived only after they were requested again.
  public var packetsRecovered: UInt64 = 0
  /// Packets among `packetsLost` whose audio was in another packet, as a copy with exactly their timestamp (RED, RFC 2198).
  public var repairedByRedundancy: UInt64 = 0
  /// Packets that arrived more than once.
  public var packetsDuplicated: UInt64 = 0
  /// Bytes of media payload received.
  public var bytesReceived: UInt64 = 0
  /// Frames delivered.
  public var frames: UInt64 = 0
  /// Keyframes among them.
  public var keyframes: UInt64 = 0
  /// Frames that were started but not completed, or that depended on an incomplete one.
  public var framesDropped: UInt64 = 0
  /// Keyframe requests sent.
  public var keyframeRequests: UInt64 = 0
  /// Sequence numbers in NACKs, each request counted.
  public var packetsRequested: UInt64 = 0
  /// Interarrival jitter in seconds (RFC 3550, 6.4.1).
  public var jitter: Double = 0
  /// Bits a second, over about the last second.
  public var bitrate: Double = 0

  public init() {}
}

/// The statistics of one track over a whole call. A track's own statistics restart from zero when its media section is
/// removed and added again.
package struct CumulativeTrackStatistics: Sendable {
  /// The sum of all earlier runs of the track.
  private var base = TrackStatistics()
  private var latest = TrackStatistics()

  package init() {}

  /// Updates the newest statistics.
  package mutating func update(_ counts: TrackStatistics) {
    let hasRestarted =
      counts.packetsExpected < latest.packetsExpected || counts.packetsReceived < latest.packetsReceived
    if hasRestarted { base = total }
    latest = counts
  }

  /// The sum of all runs; jitter and bitrate are the newest.
  package var total: TrackStatistics {
    var sum = latest
    for count in Self.counts { sum[keyPath: count] &+= base[keyPath: count] }
    return sum
  }

  private static var counts: [WritableKeyPath<TrackStatistics, UInt64>] {
    [
      \.packetsExpected, \.packetsReceived, \.packetsPadding, \.packetsLost, \.packetsLate, \.packetsRecovered,
      \.repairedByRedundancy, \.packetsDuplicated, \.bytesReceived, \.frames, \.keyframes, \.framesDropped,
      \.keyframeRequests, \.packetsRequested,
    ]
  }
}
