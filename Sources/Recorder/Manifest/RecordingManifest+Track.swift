public import Media

extension RecordingManifest {
  /// One track of the participant.
  public struct Track: Sendable, Hashable, Codable {
    /// `audio` or `video`.
    public var kind: String
    /// `opus` or `vp8`.
    public var codec: String
    /// Where the first frame lies, and how long after it the last one ends.
    public var start: Double = 0
    public var duration: Double = 0
    /// Frames written.
    public var frames: UInt64 = 0
    /// Frames that came but were not written: pictures before the first keyframe, and what is not VP8 or Opus.
    public var refused: UInt64 = 0
    /// Frames that did not decode; absent when verification was off.
    public var decodeErrors: UInt64?
    /// The wall clock when the first frame had been decoded, ISO 8601 in UTC with milliseconds; absent when verification was off.
    public var firstDecoded: String?
    /// How often the sender's timestamps were not to be believed, so that arrivals had to tell the time.
    public var timestampBreaks = 0

    /// Video: keyframes among `frames`.
    public var keyframes: UInt64?
    /// Video: each picture size, from the keyframe that brought it. Ends after 1,000 changes.
    public var sizes: [Size]?
    /// Video: the size of the last picture as it was decoded; absent when verification was off.
    public var lastDecodedSize: Size?
    /// Audio: 1 or 2.
    public var channels: Int?

    /// RTP packets with media, retransmissions that filled a hole included.
    public var packets: UInt64 = 0
    /// Packets that never came.
    public var lost: UInt64 = 0
    /// Packets that came after they were asked for again.
    public var recovered: UInt64 = 0
    /// Packets that came more than once.
    public var duplicated: UInt64 = 0
    /// Bytes of media payload.
    public var bytes: UInt64 = 0
    /// Frames that were begun but not completed, or depended on one that was not; none of them was written.
    public var dropped: UInt64 = 0
    /// Keyframes asked of the sender.
    public var keyframeRequests: UInt64 = 0

    public init(codec: Codec) {
      kind = codec.kind.rawValue
      self.codec = codec.rawValue
    }

    /// A picture size and since when.
    public struct Size: Sendable, Hashable, Codable {
      public var time: Double
      public var width: Int
      public var height: Int

      public init(time: Double, width: Int, height: Int) {
        self.time = time
        self.width = width
        self.height = height
      }
    }

    /// Takes over what the network side counted.
    mutating func take(_ statistics: TrackStatistics) {
      packets = statistics.packetsReceived
      lost = statistics.packetsLost
      recovered = statistics.packetsRecovered
      duplicated = statistics.packetsDuplicated
      bytes = statistics.bytesReceived
      dropped = statistics.framesDropped
      keyframeRequests = statistics.keyframeRequests
    }
  }
}
