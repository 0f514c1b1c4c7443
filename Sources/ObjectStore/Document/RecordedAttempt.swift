internal import FoundationEssentials
internal import JSON
package import JobProtocol

/// All that is known of one attempt when its recording is described. A node leaves it in the database for the one that describes
/// the recording.
package struct RecordedAttempt: Sendable, Hashable, Codable {
  /// A user who was in the room.
  package struct Participant: Sendable, Hashable, Codable {
    package var id: String
    package var name: String?
    /// Milliseconds since 1970.
    package var joined: Int64
    /// Nil if they were there when the process ended.
    package var left: Int64?

    /// A moment before 1970 or after the year 9999, which only a broken process writes, becomes the first or last one between them.
    package init(id: String, name: String? = nil, joined: Int64, left: Int64? = nil) {
      self.id = id
      self.name = name
      self.joined = UTCTime(milliseconds: joined).milliseconds
      self.left = left.map { UTCTime(milliseconds: $0).milliseconds }
    }
  }

  /// Who is paused from a moment on, until the next step or the end of the attempt.
  package struct PauseStep: Sendable, Hashable, Codable {
    /// Milliseconds since 1970.
    package var time: Int64
    package var state: PauseState

    /// Times are limited as those of participants.
    package init(time: Int64, state: PauseState) {
      self.time = UTCTime(milliseconds: time).milliseconds
      self.state = state
    }
  }

  package var number: Int64
  package var id: String
  package var version: String
  /// Milliseconds since 1970.
  package var start: Int64
  package var end: Int64?
  package var how: String?
  /// Whether the process said why it ends. Otherwise it was lost.
  package var endedInOrder: Bool
  /// The node that ran it; nil where there is only one.
  package var node: String?
  /// The clock of the node less that of the database, and how wrong that may be, in milliseconds.
  package var clockOffset: Int64?
  package var clockError: Int64?
  /// Whether another node took the job because it heard nothing of this one.
  package var isNodeLost = false
  package var manifests: [RecordedManifest] = []
  package var participants: [Participant] = []
  /// In the order of their times.
  package var pauses: [PauseStep] = []
  /// What is in the store.
  package var objects: [RecordingDocument.Object] = []
  /// What is not, but was recorded.
  package var missing: [RecordingDocument.Missing] = []

  package init(
    number: Int64, id: String, version: String, start: Int64, end: Int64?, how: String?, endedInOrder: Bool = true
  ) {
    self.number = number
    self.id = id
    self.version = version
    self.start = start
    self.end = end
    self.how = how
    self.endedInOrder = endedInOrder
  }

  /// The most bytes of the JSON of an attempt.
  package static let maximumBytes = 64 << 20

  /// JSON for the database.
  package var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// Reads ``json``; nil if it is none.
  package init?(json text: String) {
    let limits = JSONLimits(bytes: Self.maximumBytes, values: 5_000_000, depth: 8, nameRunOutsideASCII: 256)
    guard let attempt = try? JSONReader.decode(Self.self, from: text, within: limits) else { return nil }
    self = attempt
  }
}
