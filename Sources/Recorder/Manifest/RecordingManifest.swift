import FoundationEssentials
import Media

/// What is known of one participant's recording: the content of `<user>.json`.
///
/// Times are seconds with three decimals, counted from `start`.
public struct RecordingManifest: Sendable, Hashable, Codable {
  /// The version that this program writes. It goes up when the meaning of a field changes, not when one is added.
  public static let currentVersion = 1

  public var version = RecordingManifest.currentVersion
  /// The program that wrote it.
  public var writer = "chatbot"
  /// False while the recording grows, and until it is repaired if the program was killed.
  public var finished = false
  public var room: String
  /// The participant's id, as the server gave it.
  public var user: String
  /// The participant's name, where one is known.
  public var name: String?
  /// The wall clock at the first frame of either track, ISO 8601 in UTC with milliseconds: when that frame would have come
  /// had it been as fast as the fastest of the first 10 s. Files of one room are laid side by side by it.
  public var start: String
  /// From `start` to the end of the last frame that is written.
  public var duration: Double = 0
  /// How the participant left; absent while the recording grows.
  public var left: RecordingEndReason?
  public var alignment: Alignment
  public var files: [File] = []
  public var tracks: [Track] = []
  /// What the disk cost; absent when it took everything in time.
  public var disk: FileSystem?
  /// What this machine had no time to record; absent when it had.
  public var overload: Overload?
  /// Whether the recording was finished by a repair; absent when it was not.
  public var repaired: Bool?
  /// What went wrong, one sentence each.
  public var problems: [String] = []

  public init(room: String, user: String, name: String?, start: String) {
    self.room = room
    self.user = user
    self.name = name
    self.start = start
    alignment = Alignment()
  }

  /// How audio and video were brought into step.
  public struct Alignment: Sendable, Hashable, Codable {
    /// `senderReports`, `arrivals` (no reports came) or `single` (there was one track only).
    public var source = "single"
    /// The largest error that was measured, in seconds: between the offset in use and the one that reports told. While only
    /// arrivals told, the spread of their delays, or what they changed later if that is more.
    public var error: Double = 0
    /// By how much video was moved against audio in all after the start, because later reports or arrivals said so.
    public var correction: Double = 0
    /// Sender reports that came.
    public var reports = 0

    public init() {}
  }

  /// One media file.
  public struct File: Sendable, Hashable, Codable {
    /// Its name, beside the manifest.
    public var name: String
    /// `webm` or `ogg`.
    public var kind: String
    /// Where the file's time zero lies.
    public var start: Double
    public var duration: Double
    public var bytes: Int64
    /// Whether it was closed in good order.
    public var complete: Bool
    /// Which of the recording's segments it belongs to, from 1; absent when there is only one.
    public var segment: Int?

    public init(
      name: String, kind: String, start: Double, duration: Double, bytes: Int64, complete: Bool, segment: Int? = nil
    ) {
      self.name = name
      self.kind = kind
      self.start = start
      self.duration = duration
      self.bytes = bytes
      self.complete = complete
      self.segment = segment
    }
  }
}

extension RecordingManifest {
  /// What it cost that the disk did not take the recording for a while.
  public struct FileSystem: Sendable, Hashable, Codable {
    /// How often the disk failed, or gave no answer for 2 s or more.
    public var stalls = 0
    /// For how long the disk took nothing while the call continued: from a write that failed to the moment when all that waited
    /// was written, and while a write gave no answer for 2 s or more. Each moment counts once, and none after the call.
    public var duration: Double = 0
    /// Frames that are in no file, because the memory for what waits was full, or because the disk did not take them until
    /// the end.
    public var picturesDropped: UInt64 = 0
    /// Audio packets that are in no file, for the same reasons.
    public var packetsDropped: UInt64 = 0

    public init() {}
  }
}

extension RecordingManifest {
  /// What is in no file because this machine had no time to record it.
  public struct Overload: Sendable, Hashable, Codable {
    public var picturesDropped: UInt64 = 0
    /// Audio packets.
    public var packetsDropped: UInt64 = 0

    public init() {}
  }
}

extension WallClock {
  /// ISO 8601 in UTC with milliseconds, for example `2026-03-01T09:30:00.125Z`.
  func text(at other: MonotonicInstant) -> String {
    // The style cuts digits off instead of rounding, so a little more than the rounded value is given to it.
    let rounded = (seconds(at: other) * 1_000).rounded() / 1_000 + 0.000_1
    return Date(timeIntervalSince1970: rounded).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// Nanoseconds since 2001-01-01 00:00 UTC, as WebM counts.
  func nanosecondsSince2001(at other: MonotonicInstant) -> Int64 {
    Int64(exactly: ((seconds(at: other) - 978_307_200) * 1_000_000).rounded()).map { $0 &* 1_000 } ?? 0
  }
}

/// How a participant's recording came to its end.
public enum RecordingEndReason: String, Sendable, Hashable, Codable, CaseIterable {
  /// The participant left the room.
  case left
  /// Nothing came from the participant any more.
  case connectionLost
  /// The call with this participant could not continue, for example because of a certificate that did not match.
  case failed
  /// We stopped recording.
  case stopped
}
