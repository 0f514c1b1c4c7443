public import Media

extension Recorder {
  /// What a recorder is set to.
  public struct Configuration: Sendable, Hashable {
    /// Where the files go; made if it is not there.
    public var folder: String
    /// The room's name, for the manifest.
    public var room: String
    /// Whether every frame is decoded as well, and those that cannot be are counted.
    public var verifies = true
    /// How long a track's first frames wait for the sender reports that tell how audio and video belong together.
    public var hold = Duration.seconds(3)
    /// Whether the recorder looks at the clock by itself. Tests that bring their own time look for it.
    package var looksAtClock = true

    public init(folder: String, room: String) {
      self.folder = folder
      self.room = room
    }
  }

  /// Something that went wrong with a recording, as a sentence for the user. The call and the other recordings go on.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    public let participant: ParticipantID
    public let sentence: String

    public var description: String { sentence }
  }
}
