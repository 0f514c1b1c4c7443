/// All that is known of one attempt when its recording is described.
package struct RecordedAttempt: Sendable, Hashable {
  /// A user who was in the room.
  package struct Participant: Sendable, Hashable {
    package var id: String
    package var name: String?
    /// Milliseconds since 1970.
    package var joined: Int64
    /// Nil if they were there when the process ended.
    package var left: Int64?

    package init(id: String, name: String? = nil, joined: Int64, left: Int64? = nil) {
      self.id = id
      self.name = name
      self.joined = joined
      self.left = left
    }
  }

  /// An interval in which the recording of a user, or of all users, was paused.
  package struct Pause: Sendable, Hashable {
    /// Nil for all users.
    package var user: String?
    /// Milliseconds since 1970.
    package var start: Int64
    /// Nil if it was paused when the process ended.
    package var end: Int64?

    package init(user: String?, start: Int64, end: Int64?) {
      self.user = user
      self.start = start
      self.end = end
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
  package var manifests: [RecordedManifest] = []
  package var participants: [Participant] = []
  package var pauses: [Pause] = []
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
}
