public import Media
import NIOCore

extension RoomRecorder {
  /// What a recorder is set to.
  public struct Configuration: Sendable, Hashable {
    /// Where the files go; made if it is not there.
    public var folder: String
    /// The room's name, for the manifest.
    public var room: String
    /// Whether every frame is decoded as well, and those that cannot be are counted. When there is no time for that, frames are
    /// recorded all the same, and counted as unverified.
    public var verifies = true
    /// After how much a recording's next files begin; nil for one file each.
    public var segment: SegmentLimit?
    /// How long a track's first frames wait for the sender reports that say how audio and video belong together.
    public var hold = Duration.seconds(3)
    /// Bytes of frames that may wait for a disk that does not keep up, of all participants together. When they are full,
    /// frames are skipped, and audio when that does not help.
    public var memoryLimit = 32 << 20
    /// Whether the recorder looks at the clock by itself. Tests that bring their own time look for it.
    package var looksAtClock = true
    /// How many recorders share this machine; see ``RecorderGroup``.
    package var recorders = 1
    /// Threads that verify: as many as there are processors, all recorders together. If the caller gives the time (`looksAtClock` is false), there are
    /// none, and frames are verified at once.
    var verificationThreads: Int { looksAtClock ? max(1, min(System.coreCount, 8) / recorders) : 0 }

    public init(folder: String, room: String) {
      self.folder = folder
      self.room = room
    }
  }

  /// Something that happened to a recording, as a sentence for the user. The call and the other recordings continue.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
      /// The disk takes nothing at the moment. Nothing is lost so far: it is tried again, and frames wait in memory.
      case stalled
      /// The disk works again.
      case resumed
      /// Something will be missing from the files.
      case lost
      /// Something will be missing from the files, because this machine has no time for it.
      case overloaded
    }

    public let kind: Kind
    /// Whose recording it is; the first one's that noticed when it is the whole disk.
    public let participant: ParticipantID
    public let sentence: String

    public var description: String { sentence }
  }
}
