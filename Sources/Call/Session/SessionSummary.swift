/// What a call was, for the operator who reads it later: why it ended, who was there, and who was recorded. It is the content of
/// `ROOM-TIME.session.json` and of `--summary`.
///
/// Times are seconds with three decimals, counted from `start`; dates are RFC 3339 in UTC with milliseconds.
public struct SessionSummary: Sendable, Hashable, Codable {
  /// The version that this program writes. It increases when the meaning or the name of a field changes, not when a field is added.
  public static let currentVersion = 1
  /// The maximum number of ``users``.
  public static let maximumUsers = 10_000
  /// The maximum number of ``User/recordings``, and of the files of each.
  public static let maximumRecordings = 100
  public static let maximumFiles = 1_000
  /// The maximum number of files that are listed of all users together.
  public static let maximumFilesOfAll = 100_000

  public var version = SessionSummary.currentVersion
  /// The program that wrote it.
  public var writer = "chatbot"
  public var room: String
  /// The id of the recordings' session, as in their manifests; absent if nothing was to be recorded.
  public var session: String?
  /// When the stay in the room began and ended.
  public var start: String
  public var end: String
  public var duration: Double
  public var endReason: EndReason
  /// Whether users were to be recorded.
  public var recording: Bool
  /// The number of ``users`` who were recorded.
  public var recordedUsers = 0
  /// The users in the order in which they were first seen, ``maximumUsers`` at most.
  public var users: [User] = []
  /// The number of arrivals of users who are not in ``users``, because there are too many.
  public var usersOmitted = 0

  package init(
    room: String, session: String? = nil, start: String, end: String, duration: Double, endReason: EndReason,
    recording: Bool
  ) {
    self.room = room
    self.session = session
    self.start = start
    self.end = end
    self.duration = duration
    self.endReason = endReason
    self.recording = recording
  }

  /// Why the call ended.
  public struct EndReason: Sendable, Hashable, Codable {
    /// A name for programs: that of a case of ``RoomCall/EndReason``.
    public var cause: String
    /// A clause or sentence for people.
    public var text: String

    package init(cause: String, text: String) {
      self.cause = cause
      self.text = text
    }
  }

  /// Somebody who was in the room, or connected to us.
  public struct User: Sendable, Hashable, Codable {
    /// The id that the server assigned; up to 200 bytes.
    public var id: String
    /// The name, if known; up to 200 bytes.
    public var name: String?
    /// When the user was first seen, and when they were gone, or the call ended.
    public var from: String
    public var to: String
    public var fromSeconds: Double
    public var toSeconds: Double
    /// Whether the user was there when the call ended.
    public var presentAtEnd = false
    /// How often they came; absent if that was once.
    public var stays: Int?
    /// Whether media of the user is in files.
    public var recorded = false
    /// Why not; absent for a user who was recorded.
    public var reason: Reason?
    /// The reason as a clause or sentence.
    public var explanation: String?
    /// The media sections that were refused, by us or by the user, a sentence each; the first 8. Absent if there are none.
    public var refused: [String]?
    /// The recordings of the user, one for each stream and each connection; the first 100. Absent if there are none.
    public var recordings: [Recording]?

    package init(id: String, name: String?, from: String, to: String, fromSeconds: Double, toSeconds: Double) {
      self.id = id
      self.name = name
      self.from = from
      self.to = to
      self.fromSeconds = fromSeconds
      self.toSeconds = toSeconds
    }
  }

  /// Why a user was not recorded.
  public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
    /// Nobody was to be recorded.
    case notRecording
    /// The user is a media server that only receives what we publish.
    case mediaServer
    /// The user left within a second, before media arrived.
    case leftAtOnce
    /// The user neither made nor answered an offer.
    case noOffer
    /// All that the user offered to send was refused.
    case refused
    /// No connection was established, or the user's offer could not be used.
    case notConnected
    /// The user announced that they send nothing.
    case onlyReceives
    /// The user was connected and sent nothing, or nothing that can be decoded.
    case noMedia
    /// The disk did not accept the recording.
    case disk
    /// The recording of the user was paused, and nothing was recorded before or after.
    case paused
  }

  /// A recording of one stream of a user.
  public struct Recording: Sendable, Hashable, Codable {
    /// The name of the manifest, in the folder of recordings.
    public var manifest: String
    /// The number of the user's stream, from 1.
    public var stream: Int
    public var start: String
    public var duration: Double
    /// The media files; the first 1,000.
    public var files: [File]
    /// The number of media files.
    public var fileCount: Int
    /// The number of problems that the manifest lists.
    public var problemCount: Int
  }

  /// A media file.
  public struct File: Sendable, Hashable, Codable {
    /// Its name, in the folder of recordings.
    public var name: String
    /// `webm`, `mkv`, `ogg` or `mka`.
    public var kind: String
    public var duration: Double
    public var bytes: Int64
  }
}

extension RoomCall.EndReason {
  /// A name for programs, which does not change.
  var cause: String {
    switch self {
    case .left: "left"
    case .timeIsUp: "timeIsUp"
    case .sourceEnded: "sourceEnded"
    case .signallingEnded: "signallingEnded"
    case .signallingClosed: "signallingClosed"
    case .observerFinished: "observerFinished"
    case .notAdmitted: "notAdmitted"
    case .rejected: "rejected"
    case .roomEmpty: "roomEmpty"
    case .nobodyCame: "nobodyCame"
    }
  }
}
