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
  public var left: LeaveReason?
  public var alignment: Alignment
  public var files: [File] = []
  public var tracks: [Track] = []
  /// What the disk cost; absent when it took everything in time.
  public var disk: Disk?
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
