public import Media

/// What had been counted of the connection to one peer at one moment. Counts only grow; where they start again, that is noticed.
public struct ConnectionSample: Sendable, Hashable {
  /// What came, by track.
  public var received: [MediaKind: TrackStatistics] = [:]
  /// RTP packets sent, those sent again included.
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes sent.
  public var bytesSent: UInt64 = 0
  public var framesSent: UInt64 = 0
  /// Packets that the peer reported as lost.
  public var packetsLost: Int64 = 0
  /// Keyframes that the peer requested.
  public var keyframeRequests: UInt64 = 0
  /// What the path carries, in bits a second.
  public var targetBitrate: Int?
  /// Seconds.
  public var roundTripTime: Double?
  public var localAddress: String?
  public var remoteAddress: String?
  public var protectionProfile: String?
  /// ICE checks that we sent, and those of them that were answered; they take the steps `checksBegun` and `checkAnswered` where
  /// these were not told.
  public var checksSent: UInt64 = 0
  public var checksAnswered: UInt64 = 0
  /// What was done to packets on purpose.
  public var impairment = ConnectionReport.Impairment()

  public init() {}
}
