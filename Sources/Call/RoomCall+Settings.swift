public import BotPeer
public import Recorder
public import RoomMessages

extension RoomCall {
  /// What a ``RoomCall`` does. Each part is the settings of one library and travels there whole.
  public struct Settings: Sendable {
    /// The network, the codecs and the ICE servers. The call itself decides which media are sent, how keyframe requests are answered,
    /// and which data channels there are, and sets the handler of its events.
    public var peer = Peer.Configuration()
    /// How media is sent.
    public var media = Media()
    /// Where and how everyone is recorded; nil for no recording.
    ///
    /// Each call has threads and a limit of memory for its own recordings. Of several calls, recordings are on one time axis if their
    /// `session` is the same `RecordingSession`. Without `verifies`, which decodes each frame, a call needs less time and fewer threads.
    public var recording: RoomRecorder.Configuration?
    /// What the call says, offers and accepts on data channels.
    public var messages = MessagePlan()
    /// The room's name, for the ``SessionSummary`` and for ``programs``; where it is empty, that of ``recording`` is used.
    public var room = ""
    /// When to leave, counted from ``RoomCall/run()``; nil to stay.
    public var duration: Duration?
    /// How long nobody else may be in the room, after somebody was, before the call ends; nil to stay.
    public var leaveWhenEmpty: Duration?
    /// How long to wait for the first user, counted from the join, before the call ends; nil to stay.
    public var leaveIfNobody: Duration?

    /// What runs when recordings are finished.
    public var programs = Programs()

    public init() {}

    /// The name of the room: ``room``, or that of the recordings.
    var roomName: String { room.isEmpty ? recording?.room ?? "" : room }

    /// Programs that run for recordings, each the words of a command; the path of the manifest is appended. They run without a shell,
    /// four at once, for an hour at most.
    public struct Programs: Sendable, Hashable {
      /// Runs once for each finished recording; nil for nothing.
      public var onFinish: [String]?
      /// Runs for each finished file of a recording with segments; nil for nothing.
      public var onSegment: [String]?

      public init() {}
    }

    /// How a call sends media.
    public struct Media: Sendable, Hashable {
      /// After which delay each user's media is sent back to them; nil not to send it back.
      public var loopbackDelay: Duration?
      /// Whether the source starts only when the first user is connected, because it does not play in a loop.
      public var waitsForConnection = false
      /// Whether the call ends when the source has ended. If not, only a source that fails ends it.
      public var endsWithSource = true

      public init() {}
    }
  }
}
