public import Media
import NIOCore

extension RoomRecorder {
  /// The settings of a recorder.
  public struct Configuration: Sendable, Hashable {
    /// The folder of the files; created if missing.
    public var folder: String
    /// The room's name, for the manifest.
    public var room: String
    /// Whether every frame is also decoded, to count those that cannot be. If there is no time for it, frames are still
    /// recorded, and counted as unverified.
    public var verifies = true
    /// The size at which a recording continues in new files; nil for one file of each kind.
    public var segment: SegmentLimit?
    /// How files are called; nil for `{name}`.
    public var fileName: FileNameTemplate?
    /// How long a track's first frames wait for the sender reports that align audio and video; less if memory is short.
    public var alignmentDelay = Duration.seconds(3)
    /// The maximum bytes of frames that wait, of all participants together. When this is full, video frames are dropped,
    /// and audio if that is not enough.
    ///
    /// With nil, the limit follows the machine and the call: 32 MiB, and 2 MiB for each participant, up to an eighth of
    /// the memory that this process may use (that of the machine, or of its control group), half of what is available
    /// when the recorder is created, and 1 GiB, but at least 32 MiB.
    public var memoryLimit: Int?
    /// What the recordings share with those of other recorders of the process; nil for a session of its own.
    public var session: RecordingSession?
    /// Who is paused from the beginning; see ``RoomRecorder/pause(_:at:)``. ``PausedUsers/everybody`` is for a room in which each
    /// user must consent before they are recorded.
    public var paused = PausedUsers.nobody
    /// How many finished files wait in ``RoomRecorder/segments``.
    package var bufferedSegments = 1_000
    /// Whether the recorder reads the clock itself. Tests that control the time set it to false.
    package var usesSystemClock = true
    /// The number of recorders that share this machine; see ``RecorderGroup``.
    package var recorders = 1
    /// The memory for the frames of this recorder.
    var memoryBudget: MemoryBudget {
      let budget: MemoryBudget = memoryLimit.map { .fixed($0) } ?? .automatic(of: .read())
      return recorders > 1 ? budget.divided(by: recorders) : budget
    }
    /// The number of verification threads: as many as processors, shared by all recorders. If the caller controls the
    /// time (`usesSystemClock` is false), there are none, and frames are verified immediately.
    var verificationThreads: Int { usesSystemClock ? max(1, min(System.coreCount, 8) / recorders) : 0 }

    public init(folder: String, room: String) {
      self.folder = folder
      self.room = room
    }
  }

  /// An event of a recording, with a sentence for the user. The call and the other recordings continue.
  public struct Problem: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
      /// The disk accepts nothing at the moment. Nothing is lost so far: writes are retried, and frames wait in memory.
      case stalled
      /// The disk works again.
      case resumed
      /// Something will be missing from the files.
      case lost
      /// Something will be missing from the files, because the processor has no time for it.
      case overloaded
      /// Something will be missing from the files, because it does not fit into the memory for queued frames.
      case memoryFull
      /// Media is not recorded, because a limit of the recorder is reached.
      case notRecorded
      /// Finished files are missing from ``RoomRecorder/segments``. They are recorded.
      case segmentsLeftOut
      /// Frames are recorded, and not decoded to verify them: the process that decodes them crashed, or there is none.
      case notVerified
      /// Frames are decoded in this process to verify them, because no other one can be had.
      case verifiedInProcess
    }

    public let kind: Kind
    /// The recording's participant; if the whole disk is affected, the participant whose recording noticed it first.
    public let participant: ParticipantID
    /// The number of the stream whose recording is affected; nil if it is more than one.
    public let stream: Int?
    public let sentence: String

    init(kind: Kind, participant: ParticipantID, stream: Int? = nil, sentence: String) {
      self.kind = kind
      self.participant = participant
      self.stream = stream
      self.sentence = sentence
    }

    public var description: String { sentence }
  }
}
