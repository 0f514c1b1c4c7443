public import Media

extension RecordingManifest {
  /// One track of the participant.
  public struct Track: Sendable, Hashable, Codable {
    /// `audio` or `video`.
    public var kind: String
    /// `opus` or `vp8`.
    public var codec: String
    /// Where the first frame lies, and how long after it the last one ends that is written.
    public var start: Double = 0
    public var duration: Double = 0
    /// Frames that are in files, those that the recorder made in the place of lost audio included.
    public var frames: UInt64 = 0
    /// Frames that came but were not written: frames before the first keyframe or after one that was refused, frames
    /// larger than 4096x4096, what is not VP8 or Opus, and audio for which no time had passed (`AudioBudget`).
    public var refused: UInt64 = 0
    /// Frames that did not decode; absent when verification was off.
    public var decodeErrors: UInt64?
    /// Frames that were written and not decoded, because they would have cost too much or this machine had no time; absent when
    /// verification was off.
    public var unverified: UInt64?
    /// The wall clock when the first frame had been decoded, ISO 8601 in UTC with milliseconds; absent when verification was off.
    public var firstDecoded: String?
    /// How often the sender's timestamps were not to be trusted, so that arrivals had to tell the time.
    public var timestampBreaks = 0

    /// Video: keyframes among `frames`.
    public var keyframes: UInt64?
    /// Video: each video size, from the keyframe that brought it. Ends after 1,000 changes.
    public var sizes: [Size]?
    /// Video: the size of the last frame as it was decoded; absent when verification was off.
    public var lastDecodedSize: Size?
    /// Audio: 1 or 2.
    public var channels: Int?

    /// Audio: lost packets that were rebuilt from the copy in the packet after them (in-band FEC).
    public var repairedByFEC: UInt64?
    /// Audio: packets that libopus invented in place of lost ones. Of one hole at most 5 s are repaired.
    public var concealed: UInt64?

    /// RTP packets with media that the sender sent: `received` + `recovered` + `lost`, once the call is over.
    public var sent: UInt64 = 0
    /// Packets that came without a repeat that was waited for: at the first try, or after they had been given up (`late`).
    public var received: UInt64 = 0
    /// Packets that came in time after they were requested again.
    public var recovered: UInt64 = 0
    /// Packets that never came.
    public var lost: UInt64 = 0
    /// Packets among `received` that had been given up and came nevertheless, too late to be of use.
    public var late: UInt64 = 0
    /// Packets that carried nothing but padding; they are in none of the other counts.
    public var padding: UInt64 = 0
    /// All packets that came: `received` + `recovered`.
    public var packets: UInt64 = 0
    /// Packets that came more than once.
    public var duplicated: UInt64 = 0
    /// Bytes of media payload.
    public var bytes: UInt64 = 0
    /// Frames that were begun but not completed, or depended on one that was not; none of them was written.
    public var dropped: UInt64 = 0
    /// Keyframes asked of the sender.
    public var keyframeRequests: UInt64 = 0

    /// Each place where the track did not simply continue, in order; the first 1,000.
    public var gaps: [Gap] = []
    /// All gaps by reason, those beyond the list included.
    public var gapTotals: [String: GapTotal] = [:]

    public init(codec: Codec) {
      kind = codec.kind.rawValue
      self.codec = codec.rawValue
    }

    /// A video size and since when.
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
      recovered = min(statistics.packetsRecovered, packets)
      received = packets - recovered
      lost = statistics.packetsLost
      late = statistics.packetsLate
      padding = statistics.packetsPadding
      // Who counts no expected packets still knows what came and what did not.
      sent =
        statistics.packetsExpected == 0
        ? packets &+ lost : statistics.packetsExpected - min(padding, statistics.packetsExpected)
      duplicated = statistics.packetsDuplicated
      bytes = statistics.bytesReceived
      dropped = statistics.framesDropped
      keyframeRequests = statistics.keyframeRequests
    }
  }
}

extension RecordingManifest.Track {
  /// Reads a track's entry. Fields that later programs added may be missing.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func count(_ key: CodingKeys) throws -> UInt64 { try fields.decodeIfPresent(UInt64.self, forKey: key) ?? 0 }
    kind = try fields.decode(String.self, forKey: .kind)
    codec = try fields.decode(String.self, forKey: .codec)
    start = try fields.decode(Double.self, forKey: .start)
    duration = try fields.decode(Double.self, forKey: .duration)
    frames = try fields.decode(UInt64.self, forKey: .frames)
    refused = try count(.refused)
    decodeErrors = try fields.decodeIfPresent(UInt64.self, forKey: .decodeErrors)
    unverified = try fields.decodeIfPresent(UInt64.self, forKey: .unverified)
    firstDecoded = try fields.decodeIfPresent(String.self, forKey: .firstDecoded)
    timestampBreaks = try fields.decodeIfPresent(Int.self, forKey: .timestampBreaks) ?? 0
    keyframes = try fields.decodeIfPresent(UInt64.self, forKey: .keyframes)
    sizes = try fields.decodeIfPresent([Size].self, forKey: .sizes)
    lastDecodedSize = try fields.decodeIfPresent(Size.self, forKey: .lastDecodedSize)
    channels = try fields.decodeIfPresent(Int.self, forKey: .channels)
    repairedByFEC = try fields.decodeIfPresent(UInt64.self, forKey: .repairedByFEC)
    concealed = try fields.decodeIfPresent(UInt64.self, forKey: .concealed)
    recovered = try count(.recovered)
    lost = try count(.lost)
    late = try count(.late)
    padding = try count(.padding)
    packets = try count(.packets)
    received = try fields.decodeIfPresent(UInt64.self, forKey: .received) ?? packets - min(recovered, packets)
    sent = try fields.decodeIfPresent(UInt64.self, forKey: .sent) ?? packets &+ lost
    duplicated = try count(.duplicated)
    bytes = try count(.bytes)
    dropped = try count(.dropped)
    keyframeRequests = try count(.keyframeRequests)
    gaps = try fields.decodeIfPresent([RecordingManifest.Gap].self, forKey: .gaps) ?? []
    gapTotals = try fields.decodeIfPresent([String: RecordingManifest.GapTotal].self, forKey: .gapTotals) ?? [:]
  }
}

extension RecordingManifest.Track {
  /// How far from each other two times may be that were rounded to milliseconds and are the same.
  static let rounding = 0.002

  /// Where its last frame ends, in seconds from the recording's start.
  public var end: Double { ((start + duration) * 1_000).rounded() / 1_000 }

  /// Of the gap behind its last frame that came because the disk took no more, or this machine had no time: its place among the
  /// gaps.
  var unwrittenGap: Int? {
    let reasons = [MediaGap.Reason.diskStalled, .overloaded].map(\.rawValue)
    return gaps.lastIndex { reasons.contains($0.reason) && $0.start >= end - Self.rounding && $0.duration > 0 }
  }

  /// Seconds at its end that came and are in no file, because the disk did not take them or this machine had no time; 0 when all is
  /// there.
  public var unwritten: Double { unwrittenGap.map { gaps[$0].duration } ?? 0 }
}
