/// What has been sent, and what the receiver says of it.
package struct SendStatistics: Sendable, Hashable {
  /// RTP packets, retransmissions included.
  package var packetsSent: UInt64 = 0
  /// RTP payload bytes, retransmissions included.
  package var bytesSent: UInt64 = 0
  /// Packets that were sent again because they were requested.
  package var packetsRetransmitted: UInt64 = 0
  /// Frames, each time that one was sent.
  package var framesSent: UInt64 = 0
  /// Frames that were not sent: before the transport was ready, before a keyframe, or because the line had too much to do.
  package var framesSkipped: UInt64 = 0
  /// Keyframe requests that came, those too soon after another included.
  package var keyframeRequests: UInt64 = 0
  /// How often the group of frames was sent again.
  package var groupsReplayed: UInt64 = 0
  /// The receiver's newest report of the share that it lost, 0 to 1; of several tracks the worst.
  package var fractionLost: Double = 0
  /// The receiver's count of what it lost.
  package var packetsLost: Int64 = 0
  /// The receiver's limit for us in bits a second (REMB), if it named one.
  package var maximumBitrate: UInt64?

  /// What the source was last told that the path carries, in bits a second.
  package var targetBitrate: Int?

  package init() {}
}
