import FoundationEssentials
package import Media
import NIOCore

/// The description of the recording of one stream of a participant: the content of `<user>.json`, and of
/// `<user>.2.json` for the participant's second stream.
///
/// Times are seconds with three decimals, counted from `start`.
public struct RecordingManifest: Sendable, Hashable, Codable {
  /// The version that this program writes. It increases when the meaning or the name of a field changes, not when a field
  /// is added. Version 1 named ``endReason`` `left` and ``DroppedFrames/framesDropped`` `picturesDropped`, and had no
  /// ``stream``; it is read as well.
  public static let currentVersion = 2

  /// The version of the text that it was read from.
  public var version = RecordingManifest.currentVersion
  /// The program that wrote it.
  public var writer = "chatbot"
  /// Whether the recording was finished. False while it grows, and after a crash until it is repaired.
  public var finished = false
  public var room: String
  /// The participant's id, as the server sent it.
  public var user: String
  /// The participant's name, if known.
  public var name: String?
  /// The name of the files without a segment's number and an extension, as they were created; absent where it is that of the
  /// user.
  public var fileName: String?
  /// Which of the participant's streams was recorded.
  public var stream = Stream(number: 1)
  /// The wall clock at the first frame of either track, ISO 8601 in UTC with milliseconds: when that frame would have
  /// arrived with the delay of the fastest frame of the first 10 s. It aligns the files of one room with each other.
  public var start: String
  /// The process that recorded; absent in manifests of earlier versions.
  public var session: Session?
  /// From `start` to the end of the last written frame.
  public var duration: Double = 0
  /// How the recording ended; absent while it grows.
  public var endReason: RecordingEndReason?
  public var alignment: Alignment
  public var files: [File] = []
  public var tracks: [Track] = []
  /// The candidate pairs over which the media came, the first 100; absent when they are not known.
  public var paths: [NetworkPath]?
  /// The effects of a slow or failing disk; absent when the disk kept up.
  public var disk: DiskStalls?
  /// The frames that the processor had no time to record; absent when there are none.
  public var overload: DroppedFrames?
  /// The frames that did not fit into the memory for queued frames, although the disk and the processor kept up; absent
  /// when there are none.
  public var memory: DroppedFrames?
  /// Whether a repair finished the recording; absent when none did.
  public var repaired: Bool?
  /// The problems that occurred, one sentence each.
  public var problems: [String] = []

  public init(room: String, user: String, name: String?, start: String) {
    self.room = room
    self.user = user
    self.name = name
    self.start = start
    alignment = Alignment()
  }

  /// How audio and video were synchronised.
  public struct Alignment: Sendable, Hashable, Codable {
    /// `senderReports`, `arrivals` (no reports arrived) or `single` (there was only one track).
    public var source = "single"
    /// The largest measured error, in seconds: between the offset in use and the offset according to sender reports. If
    /// only arrival times were known: the spread of their delays, or the largest later change if that is more.
    public var error: Double = 0
    /// The total by which video was moved against audio after the start, because of later reports or arrival times.
    public var correction: Double = 0
    /// Sender reports received.
    public var reports = 0

    public init() {}
  }

  /// One media file.
  public struct File: Sendable, Hashable, Codable {
    /// Its name, in the manifest's folder.
    public var name: String
    /// `webm`, `mkv`, `ogg` or `mka`: see ``RecordingFileKind``.
    public var kind: String
    /// The codecs of its tracks, that of the video first, as in ``RecordingManifest/Track/codec``; absent in manifests of earlier
    /// versions of the program.
    public var codecs: [String]?
    /// The position of the file's time zero.
    public var start: Double
    public var duration: Double
    public var bytes: Int64
    /// Whether the file was closed properly.
    public var complete: Bool
    /// The recording's segment that the file belongs to, from 1; absent when there is only one, and for the first one if the next
    /// began because a codec changed.
    public var segment: Int?

    public init(
      name: String, kind: String, codecs: [String]? = nil, start: Double, duration: Double, bytes: Int64,
      complete: Bool, segment: Int? = nil
    ) {
      self.name = name
      self.kind = kind
      self.codecs = codecs
      self.start = start
      self.duration = duration
      self.bytes = bytes
      self.complete = complete
      self.segment = segment
    }

    /// Whether it is a file with video and audio, and not one with audio alone.
    public var hasVideo: Bool { RecordingFileKind(rawValue: kind)?.hasVideo ?? false }
  }
}

extension RecordingManifest {
  /// One of a participant's streams: tracks that belong together, such as a camera and its microphone (`a=msid`, RFC 8830).
  public struct Stream: Sendable, Hashable, Codable {
    /// Its number among the streams of the participant, from 1.
    public var number: Int
    /// Its id in `a=msid`; absent if it has none. Up to 100 bytes, printable.
    public var id: String?
    /// What it shows, where that is known: the value of `a=content` (RFC 4796), for example `slides`, or a description
    /// that the signalling carries. Up to 100 bytes, printable.
    public var content: String?

    public init(number: Int, id: String? = nil, content: String? = nil) {
      self.number = number
      self.id = id
      self.content = content
    }
  }

  /// The process that recorded, and when, by its monotonic clock.
  public struct Session: Sendable, Hashable, Codable {
    /// The same in all recordings of the process; 32 hexadecimal digits, random.
    public var id: String
    /// Seconds from the session's beginning to `start`. The differences of two recordings of a session are exact, also if
    /// the wall clock was set.
    public var offset: Double

    public init(id: String, offset: Double) {
      self.id = id
      self.offset = offset
    }
  }
}

extension RecordingManifest {
  /// A pair of ICE candidates, without their addresses.
  public struct NetworkPath: Sendable, Hashable, Codable {
    /// The wall clock when ICE selected the pair, as ``RecordingManifest/start``.
    public internal(set) var since = ""
    /// The types of our candidate and of the participant's: `host`, `srflx`, `prflx` or `relay` (RFC 8839, 5.1).
    public var localCandidateType: String
    public var remoteCandidateType: String
    /// The transport protocol of the candidates, `udp` or `tcp`.
    public var `protocol`: String
    /// Whether media passes through a TURN server.
    public var relayed: Bool

    public init(localCandidateType: String, remoteCandidateType: String, protocol: String, relayed: Bool) {
      self.localCandidateType = localCandidateType
      self.remoteCandidateType = remoteCandidateType
      self.protocol = `protocol`
      self.relayed = relayed
    }
  }
}

extension RecordingManifest {
  /// The effects of a disk that did not accept writes for a while.
  public struct DiskStalls: Sendable, Hashable, Codable {
    /// How often the disk failed, or did not respond for 2 s or more.
    public var stalls = 0
    /// How long the disk accepted nothing while the call continued: from a failed write until everything queued was
    /// written, and while a write did not respond for 2 s or more. Each moment counts once, and no moment after the
    /// call counts.
    public var duration: Double = 0
    /// Frames that are in no file because the memory for queued frames was full, or because the disk did not accept
    /// them until the end.
    public var framesDropped: UInt64 = 0
    /// Audio packets that are in no file, for the same reasons.
    public var packetsDropped: UInt64 = 0

    public init() {}

    public init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      stalls = try fields.decode(Int.self, forKey: .stalls)
      duration = try fields.decode(Double.self, forKey: .duration)
      let dropped = try DroppedFrames(from: decoder)
      (framesDropped, packetsDropped) = (dropped.framesDropped, dropped.packetsDropped)
    }
  }
}

extension RecordingManifest {
  /// Frames that arrived and are in no file, for one reason.
  public struct DroppedFrames: Sendable, Hashable, Codable {
    /// Video frames.
    public var framesDropped: UInt64 = 0
    /// Audio packets.
    public var packetsDropped: UInt64 = 0

    public init() {}

    private enum VersionOneKeys: String, CodingKey { case picturesDropped }

    public init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: CodingKeys.self)
      packetsDropped = try fields.decode(UInt64.self, forKey: .packetsDropped)
      framesDropped =
        try fields.decodeIfPresent(UInt64.self, forKey: .framesDropped)
        ?? decoder.container(keyedBy: VersionOneKeys.self).decode(UInt64.self, forKey: .picturesDropped)
    }

    var isEmpty: Bool { framesDropped == 0 && packetsDropped == 0 }

    mutating func add(_ count: UInt64, of kind: MediaKind) {
      switch kind {
      case .video: framesDropped &+= count
      case .audio: packetsDropped &+= count
      }
    }
  }
}

extension RecordingManifest {
  private enum VersionOneKeys: String, CodingKey { case left }

  /// Decodes a manifest of any version up to ``currentVersion``. Fields of a later one may have another meaning.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    version = try fields.decode(Int.self, forKey: .version)
    guard (1...Self.currentVersion).contains(version) else {
      throw ReadingError(reason: "its version is \(version), and this program knows up to \(Self.currentVersion)")
    }
    writer = try fields.decode(String.self, forKey: .writer)
    finished = try fields.decode(Bool.self, forKey: .finished)
    room = try fields.decode(String.self, forKey: .room)
    user = try fields.decode(String.self, forKey: .user)
    name = try fields.decodeIfPresent(String.self, forKey: .name)
    fileName = try fields.decodeIfPresent(String.self, forKey: .fileName)
    stream = try fields.decodeIfPresent(Stream.self, forKey: .stream) ?? Stream(number: 1)
    start = try fields.decode(String.self, forKey: .start)
    session = try fields.decodeIfPresent(Session.self, forKey: .session)
    duration = try fields.decode(Double.self, forKey: .duration)
    endReason =
      try fields.decodeIfPresent(RecordingEndReason.self, forKey: .endReason)
      ?? decoder.container(keyedBy: VersionOneKeys.self).decodeIfPresent(RecordingEndReason.self, forKey: .left)
    alignment = try fields.decode(Alignment.self, forKey: .alignment)
    files = try fields.decode([File].self, forKey: .files)
    tracks = try fields.decode([Track].self, forKey: .tracks)
    paths = try fields.decodeIfPresent([NetworkPath].self, forKey: .paths)
    disk = try fields.decodeIfPresent(DiskStalls.self, forKey: .disk)
    overload = try fields.decodeIfPresent(DroppedFrames.self, forKey: .overload)
    memory = try fields.decodeIfPresent(DroppedFrames.self, forKey: .memory)
    repaired = try fields.decodeIfPresent(Bool.self, forKey: .repaired)
    problems = try fields.decode([String].self, forKey: .problems)
  }
}

extension WallClock {
  /// Formats a moment as ISO 8601 in UTC with milliseconds, for example `2026-03-01T09:30:00.125Z`.
  package func text(at other: MonotonicInstant) -> String {
    // The style truncates digits instead of rounding, so a little is added to the rounded value.
    let rounded = (seconds(at: other) * 1_000).rounded() / 1_000 + 0.000_1
    return Date(timeIntervalSince1970: rounded).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Returns nanoseconds since 2001-01-01 00:00 UTC, the unit of WebM's `DateUTC`.
  package func nanosecondsSince2001(at other: MonotonicInstant) -> Int64 {
    Int64(exactly: ((seconds(at: other) - 978_307_200) * 1_000_000).rounded()).map { $0 &* 1_000 } ?? 0
  }
}

/// The reason why a participant's recording ended.
public enum RecordingEndReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The participant left the room.
  case left
  /// No packets arrived from the participant any more.
  case connectionLost
  /// The call with this participant could not continue, for example because of a certificate that did not match.
  case failed
  /// The recorder was stopped.
  case stopped
}
