public import Media

extension RecordingManifest {
  /// One track of the stream.
  public struct Track: Sendable, Hashable, Codable {
    /// `audio` or `video`.
    public var kind: String
    /// What identifies the track in the participant's description: its mid, or `ssrc:` and its SSRC; absent if that is not
    /// known. Up to 100 bytes, printable.
    public var id: String?
    /// The codec at the start: `opus`, `g722`, `pcmu`, `pcma`, `vp8`, `vp9` or `h264`.
    public var codec: String
    /// The profile of the codec at the start, `0` or `2` for VP9; absent if it has none. For H.264 see ``codecs``.
    public var profile: String?
    /// The codec at the start, and each change of the codec or its profile, the first 1,000; absent in manifests of earlier versions
    /// of the program.
    public var codecs: [CodecChange]?
    /// The position of the first frame. `duration` is measured from there to the end of the last written frame.
    public var start: Double = 0
    public var duration: Double = 0
    /// Frames that are in files, including those that the recorder generated to replace lost audio.
    public var frames: UInt64 = 0
    /// Frames that arrived but were not written: frames before the first keyframe or after a rejected one, frames
    /// larger than 4096x4096, data that is not of the track's codec, frames of a codec that came within 5 s after another change of
    /// the codec, and audio that exceeds real time (`AudioBudget`).
    public var refused: UInt64 = 0
    /// Frames that could not be decoded; absent when verification was off.
    public var decodeErrors: UInt64?
    /// Frames that were written but not decoded, because decoding would have cost too much or this machine had no time;
    /// absent when verification was off.
    public var unverified: UInt64?
    /// The wall clock when the first frame had been decoded, ISO 8601 in UTC with milliseconds; absent when
    /// verification was off.
    public var firstDecoded: String?
    /// How often the sender's timestamps were rejected and arrival times were used instead.
    public var timestampBreaks = 0

    /// Video: keyframes among `frames`.
    public var keyframes: UInt64?
    /// Video: each video size, with the keyframe from which it applies. Only the first 1,000 changes are listed.
    public var sizes: [Size]?
    /// Video: how frames are turned before they are shown, at the start and after each change; the first 1,000. Absent if they always
    /// were upright.
    public var orientations: [Orientation]?
    /// Video: the decoded size of the last frame; absent when verification was off.
    public var lastDecodedSize: Size?
    /// Video: layer frames that were marked as not shown, so that a player shows each picture once, at its largest size; the
    /// only change ever made to received frames. Absent when there were none.
    public var hiddenLayers: UInt64?
    /// Audio: 1 or 2.
    public var channels: Int?

    /// Audio: lost packets that were reconstructed from the copy in the following packet (in-band FEC).
    public var repairedByFEC: UInt64?
    /// Audio: lost packets of which a later packet had an exact copy (RED, RFC 2198).
    public var repairedByRedundancy: UInt64?
    /// Audio: packets that libopus generated to conceal lost ones. At most 5 s of one gap are repaired.
    public var concealed: UInt64?

    /// RTP packets with media that the sender sent: `received` + `recovered` + `lost`, once the call is over.
    public var sent: UInt64 = 0
    /// Packets that arrived without an awaited retransmission: at the first attempt, or after the receiver had given
    /// them up (`late`).
    public var received: UInt64 = 0
    /// Packets that arrived in time after a retransmission request.
    public var recovered: UInt64 = 0
    /// Packets that never arrived.
    public var lost: UInt64 = 0
    /// Packets among `received` that arrived after the receiver had given them up, too late to be used.
    public var late: UInt64 = 0
    /// Packets that contained only padding; no other count includes them.
    public var padding: UInt64 = 0
    /// All received packets: `received` + `recovered`.
    public var packets: UInt64 = 0
    /// Packets that arrived more than once.
    public var duplicated: UInt64 = 0
    /// Bytes of media payload.
    public var bytes: UInt64 = 0
    /// Frames that were started but not completed, or that depended on an incomplete one; none of them was written.
    public var dropped: UInt64 = 0
    /// Keyframe requests sent to the sender.
    public var keyframeRequests: UInt64 = 0

    /// Each interval in which the track was not continuous, in order; the first 1,000.
    public var gaps: [Gap] = []
    /// The totals of all gaps by reason, including gaps beyond the list's limit.
    public var gapTotals: [String: GapTotal] = [:]

    public init(codec: Codec) {
      kind = codec.kind.rawValue
      self.codec = codec.rawValue
      profile = codec.properties.profile?.values.first
    }

    /// A codec and the time from which it applies.
    public struct CodecChange: Sendable, Hashable, Codable {
      public var time: Double
      /// As ``RecordingManifest/Track/codec``.
      public var codec: String
      /// The codec with its profile and level as in RFC 6381, for example `avc1.640c1f`; absent where there is no such name.
      public var profile: String?

      public init(time: Double, codec: String, profile: String? = nil) {
        self.time = time
        self.codec = codec
        self.profile = profile
      }
    }

    /// A video size and the time from which it applies.
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

    /// How frames are turned before they are shown, and the time from which that applies.
    public struct Orientation: Sendable, Hashable, Codable {
      public var time: Double
      /// The angle clockwise, in degrees: 0, 90, 180 or 270.
      public var rotation: Int
      /// Whether left and right of the turned frame change places.
      public var mirrored: Bool

      public init(time: Double, rotation: Int, mirrored: Bool) {
        self.time = time
        self.rotation = rotation
        self.mirrored = mirrored
      }
    }

    /// Copies the counts of the receiving side.
    mutating func take(_ statistics: TrackStatistics) {
      packets = statistics.packetsReceived
      recovered = min(statistics.packetsRecovered, packets)
      received = packets - recovered
      lost = statistics.packetsLost
      late = statistics.packetsLate
      padding = statistics.packetsPadding
      // A source that does not count expected packets still counts received and lost ones.
      sent =
        statistics.packetsExpected == 0
        ? packets &+ lost : statistics.packetsExpected - min(padding, statistics.packetsExpected)
      if kind == MediaKind.audio.rawValue { repairedByRedundancy = statistics.repairedByRedundancy }
      duplicated = statistics.packetsDuplicated
      bytes = statistics.bytesReceived
      dropped = statistics.framesDropped
      keyframeRequests = statistics.keyframeRequests
    }
  }
}

extension RecordingManifest.Track {
  /// Decodes a track's entry. Fields that later versions added may be missing.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func count(_ key: CodingKeys) throws -> UInt64 { try fields.decodeIfPresent(UInt64.self, forKey: key) ?? 0 }
    kind = try fields.decode(String.self, forKey: .kind)
    id = try fields.decodeIfPresent(String.self, forKey: .id)
    codec = try fields.decode(String.self, forKey: .codec)
    profile = try fields.decodeIfPresent(String.self, forKey: .profile)
    codecs = try fields.decodeIfPresent([CodecChange].self, forKey: .codecs)
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
    orientations = try fields.decodeIfPresent([Orientation].self, forKey: .orientations)
    lastDecodedSize = try fields.decodeIfPresent(Size.self, forKey: .lastDecodedSize)
    hiddenLayers = try fields.decodeIfPresent(UInt64.self, forKey: .hiddenLayers)
    channels = try fields.decodeIfPresent(Int.self, forKey: .channels)
    repairedByFEC = try fields.decodeIfPresent(UInt64.self, forKey: .repairedByFEC)
    repairedByRedundancy = try fields.decodeIfPresent(UInt64.self, forKey: .repairedByRedundancy)
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
  /// The maximum difference of two times that are equal except for rounding to milliseconds.
  static let rounding = 0.002

  /// The end of the last frame, in seconds from the recording's start.
  public var end: Double { ((start + duration) * 1_000).rounded() / 1_000 }

  /// The index of the gap after the last frame that exists because the disk, the processor or the memory did not
  /// suffice; nil if there is none.
  var unwrittenGap: Int? {
    gaps.lastIndex {
      MediaGap.Reason(rawValue: $0.reason)?.isOfRecorder == true && $0.start >= end - Self.rounding && $0.duration > 0
    }
  }

  /// Seconds at the track's end that arrived but are in no file, because the disk did not accept them, the processor
  /// had no time, or the memory was full; 0 when nothing is missing.
  public var unwritten: Double { unwrittenGap.map { gaps[$0].duration } ?? 0 }
}

extension RecordingManifest {
  /// An interval in which a track was not continuous.
  public struct Gap: Sendable, Hashable, Codable {
    /// The reason: `lost` (packets never arrived), `recoveredLate` (packets arrived after a retransmission request, and
    /// nothing is missing), `senderDiscarded` (the sender did not send the end of a frame), `waitingForKeyframe` (frames arrived that could not be decoded), `senderPaused` (the sender
    /// sent nothing; its sequence numbers are continuous), `dtx` (the sender skipped silence), `muted` (the sender had
    /// signalled that it does not send), `streamEnded` (the sender's description no longer had the stream), `reconnect` (the connection was broken, or the sender restarted),
    /// `paused` (the recording was paused),
    /// `diskStalled` (the disk failed or was slow), `overloaded` (the processor had no time), `memoryFull` (more arrived
    /// at once than fits into the memory for queued frames).
    public var reason: String
    /// The start of the gap: the end of the frame before it. For `recoveredLate`: the position of the late frame.
    public var start: Double
    /// The length of the gap, up to the start of the first frame after it; repaired audio is included. For
    /// `recoveredLate`: how long the recorder waited for the frame, which is not visible in the file. `dtx` silences
    /// that are separated only by a packet of comfort noise count as one gap.
    public var duration: Double
    /// Packets that were given up, whether they arrived later or never.
    public var packets: Int
    /// Frames that arrived but were not written.
    public var frames: Int
    /// Audio: seconds that were filled by error correction or concealment; absent when none were.
    public var repaired: Double?

    public init(
      reason: String, start: Double, duration: Double, packets: Int, frames: Int, repaired: Double? = nil
    ) {
      self.reason = reason
      self.start = start
      self.duration = duration
      self.packets = packets
      self.frames = frames
      self.repaired = repaired
    }
  }

  /// The totals of all gaps of a track that have the same reason.
  public struct GapTotal: Sendable, Hashable, Codable {
    /// The number of gaps.
    public var count: UInt64
    /// The sum of their durations, in seconds.
    public var duration: Double
    /// Packets that were given up in these gaps. The sum over all reasons is the track's `lost` plus `late`.
    public var packets: UInt64
    /// Frames that arrived during these gaps but were not written.
    public var frames: UInt64
    /// Audio: seconds of these gaps that were filled; absent when none were.
    public var repaired: Double?

    public init(count: UInt64, duration: Double, packets: UInt64, frames: UInt64, repaired: Double? = nil) {
      self.count = count
      self.duration = duration
      self.packets = packets
      self.frames = frames
      self.repaired = repaired
    }
  }
}
