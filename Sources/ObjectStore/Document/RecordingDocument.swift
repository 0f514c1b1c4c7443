/// The description of a recording in a store: the content of `recording.json`, which is written last. Whoever sees it can read all
/// objects that it lists.
///
/// Moments are texts in UTC with milliseconds (RFC 3339), durations are seconds with three decimals.
package struct RecordingDocument: Sendable, Hashable, Codable {
  /// It increases when the meaning or the name of a field changes, not when a field is added.
  package static let currentVersion = 1
  /// The last part of its key.
  package static let name = "recording.json"

  /// The last part of the key of a later description of the same recording: `recording.2.json` and so on.
  ///
  /// - Parameter number: from 1, which is ``name``.
  package static func name(_ number: Int64) -> String { number > 1 ? "recording.\(number).json" : name }

  /// The number of the description with this name; nil if it is the name of another file.
  package static func number(ofName text: String) -> Int64? {
    if text.utf8.elementsEqual(name.utf8) { return 1 }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, parts[1].count <= 6, let number = Int64(String(decoding: parts[1], as: UTF8.self)),
      number > 1, text.utf8.elementsEqual(name(number).utf8)
    else { return nil }
    return number
  }

  package var version = RecordingDocument.currentVersion
  package var writer = "chatbot-service"
  package var job: String
  package var kind: String
  package var project: String
  package var room: String
  package var labels: [String: String]
  /// Whether all files of all attempts are in the store and were closed or repaired: `missing` is empty. Gaps have no effect on
  /// it.
  package var complete = true
  package var attempts: [Attempt] = []
  /// The users of whom there is a recording or a gap, by their ids.
  package var users: [User] = []
  /// All objects but the descriptions of the recording, by their keys.
  package var objects: [Object] = []
  package var missing: [Missing] = []

  package init(job: String, kind: String, project: String, room: String, labels: [String: String]) {
    self.job = job
    self.kind = kind
    self.project = project
    self.room = room
    self.labels = labels
  }

  /// One process that recorded.
  package struct Attempt: Sendable, Hashable, Codable {
    /// From 1.
    package var number: Int64
    package var id: String
    /// The version of the program.
    package var version: String
    package var start: String
    /// Absent if it is not known.
    package var end: String?
    /// How it ended; absent if it is not known.
    package var how: String?
    /// The node that ran it; absent where there is only one.
    package var node: String?
    /// The clock of the node less that of the database when the attempt began, in seconds; absent if it is not known.
    package var clockOffset: Double?
    /// How wrong `clockOffset` may be, in seconds.
    package var clockError: Double?

    package init(
      number: Int64, id: String, version: String, start: String, end: String?, how: String?, node: String? = nil,
      clockOffset: Double? = nil, clockError: Double? = nil
    ) {
      self.number = number
      self.id = id
      self.version = version
      self.start = start
      self.end = end
      self.how = how
      self.node = node
      self.clockOffset = clockOffset
      self.clockError = clockError
    }
  }

  package struct User: Sendable, Hashable, Codable {
    package var id: String
    /// The newest name; absent if none is known.
    package var name: String?
    /// By their start.
    package var files: [File] = []
    package var gaps: [Gap] = []
    package var overlaps: [Overlap] = []

    package init(id: String, name: String? = nil) {
      self.id = id
      self.name = name
    }
  }

  /// A media file of a user.
  package struct File: Sendable, Hashable, Codable {
    /// The key of the object.
    package var object: String
    /// `webm`, `mkv`, `ogg` or `mka`.
    package var kind: String
    package var bytes: Int64
    package var sha256: String
    package var start: String
    package var duration: Double
    /// The number of the attempt.
    package var attempt: Int64
    /// From 1; absent if the recording has no segments.
    package var segment: Int64?
    /// The number of the user's stream, from 1.
    package var stream: Int64
    /// False for a file that was not closed and could not be repaired.
    package var complete: Bool
  }

  /// An interval of which a track has no media, though the user may have sent some. What the network lost is in the manifests of
  /// the attempts only.
  package struct Gap: Sendable, Hashable, Codable {
    package enum Reason: String, Sendable, Hashable, Codable {
      /// The recording process had ended, and the next one did not record the user yet.
      case processLost
      /// Another node took the job because it heard nothing of the one that had it, and did not record the user yet.
      case nodeLost
      case paused
    }

    package var reason: Reason
    /// `audio` or `video`; absent if it is not known what the user sent.
    package var kind: String?
    package var stream: Int64
    package var start: String
    package var duration: Double
  }

  /// An interval of which two attempts have media of the same track.
  package struct Overlap: Sendable, Hashable, Codable {
    package var kind: String
    package var stream: Int64
    package var start: String
    package var duration: Double
    /// The numbers of both.
    package var attempts: [Int64]
  }

  package struct Object: Sendable, Hashable, Codable {
    /// The name of the file in the folder of its attempt.
    package var name: String
    /// The key.
    package var object: String
    /// `webm`, `mkv`, `ogg` or `mka` for media files; `manifest`, `chat`, `summary`, `report`, `log` or `other`.
    package var kind: String
    package var bytes: Int64
    package var sha256: String
    package var attempt: Int64

    package init(name: String, object: String, kind: String, bytes: Int64, sha256: String, attempt: Int64) {
      self.name = name
      self.object = object
      self.kind = kind
      self.bytes = bytes
      self.sha256 = sha256
      self.attempt = attempt
    }
  }

  /// Something that was recorded and is not in the store.
  package struct Missing: Sendable, Hashable, Codable {
    package var name: String
    /// A sentence.
    package var reason: String

    package init(name: String, reason: String) {
      self.name = name
      self.reason = reason
    }
  }
}
