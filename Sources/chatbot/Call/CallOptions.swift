import ArgumentParser
import BotPeer
import FaultInjection
import LiveSource
import NetworkEmulation
import Recorder
import RoomMessages
import SignallingAdapters

/// The options of a call: the room, the input, the loopback, the recording and the network.
struct CallOptions: ParsableArguments {
  enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off
  }

  @OptionGroup(title: "Room and network")
  var connection: ConnectionOptions

  @OptionGroup(title: "Input")
  var playing: PlayOptions

  @Flag(help: "Send each user's media back to them.")
  var loopback = false

  @Option(
    help: ArgumentHelp("Delay the loopback by this time, so that the echo can be heard separately.", valueName: "time"),
    transform: TimeSpan.parse)
  var delay: TimeSpan?

  @Option(
    help: ArgumentHelp("Record each user into this folder; it is created if missing.", valueName: "folder"),
    completion: .directory)
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Begin a new file after this time or size: 10m, 500MB; with both, whichever is reached first.",
      valueName: "time|size"),
    transform: SegmentLength.parse)
  var segment: [SegmentLength] = []

  @Option(
    help: ArgumentHelp(
      "Memory for received frames that wait to be written, of all users (default: 32 MiB and 2 MiB for each user, up to an eighth of the machine's or container's memory and 1 GiB).",
      valueName: "size"),
    transform: QueueMemory.parse)
  var queueMemory: QueueMemory?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Leave after this time: 90, 90s, 10m, 1h, 250ms.", valueName: "time"), transform: TimeSpan.parse)
  var duration: TimeSpan?

  @Option(help: ArgumentHelp("Decode each recorded frame to verify it.", valueName: "on|off"))
  var verify: Switch = .on

  @OptionGroup(title: "Chat and files")
  var messages: MessageOptions

  @OptionGroup(title: "Output")
  var log: LogOptions

  /// Arguments that belong to no option; the user can only have meant a subcommand.
  @Argument(help: .hidden)
  var extraArguments: [String] = []

  /// The maximum delay of the loopback.
  static let maximumDelay = TimeSpan(milliseconds: 10_000)

  /// Whether the embedded server may start if no server listens; only if the user named no server.
  var mayStartServer: Bool { connection.server == nil }

  var verifies: Bool { verify == .on }

  /// The duration after which a recording's next file begins, or nil for no limit.
  var segmentTime: TimeSpan? {
    segment.lazy.compactMap { if case .time(let time) = $0 { time } else { nil } }.first
  }

  /// The size in bytes after which a recording's next file begins, or nil for no limit.
  var segmentSize: Int64? {
    segment.lazy.compactMap { if case .size(let bytes) = $0 { bytes } else { nil } }.first
  }

  /// When a recording's next file begins, or nil for never.
  var segmentLimit: SegmentLimit? {
    segment.isEmpty ? nil : SegmentLimit(duration: segmentTime?.duration, bytes: segmentSize)
  }

  /// The call that the options describe.
  var plan: CallPlan {
    var plan = CallPlan(connection.connectionSettings)
    plan.mayStartServer = mayStartServer
    plan.camera = playing.camera
    plan.connectionSettings.prefer(playing.sendCodec)
    plan.maximumBitrate = playing.maxBitrate.bitsPerSecond
    plan.loopback = loopback
    plan.delay = delay?.duration ?? .zero
    plan.record = record
    plan.segment = segmentLimit
    plan.verifies = verifies
    plan.queueMemory = queueMemory.map { Int($0.size.bytes) }
    plan.duration = duration?.duration
    plan.messages = messages.plan
    plan.sayFile = messages.sayFile
    return plan
  }

  func validate() throws {
    try connection.validatePorts()
    try connection.validate(
      uses: record == nil ? [] : [.record], playing.play == nil ? [] : [.play], loopback ? [.loopback] : [])
    if let word = extraArguments.first { throw ValidationError(Subcommands.rejection(of: word)) }
    guard playing.play != nil || record != nil || loopback || messages.areUsed else {
      throw ValidationError(
        "There is nothing to do: give --record FOLDER, --play FILE, --loopback, --say TEXT, --send-file FILE or "
          + "--receive-files FOLDER.")
    }
    if loopback, messages.areUsed {
      throw ValidationError("--loopback sends messages back, so it cannot be combined with --say or files.")
    }
    if loopback, playing.play != nil {
      throw ValidationError("--loopback sends users' own media back, so it cannot be combined with --play.")
    }
    if !loopback, delay != nil { throw ValidationError("--delay needs --loopback.") }
    if let delay, delay.milliseconds > Self.maximumDelay.milliseconds {
      throw ValidationError("--delay is \(Self.maximumDelay) at most.")
    }
    if record?.isEmpty == true { throw ValidationError("--record needs the name of a folder.") }
    if record == nil, verify == .off { throw ValidationError("--verify needs --record.") }
    if record == nil, !segment.isEmpty { throw ValidationError("--segment needs --record.") }
    if record == nil, queueMemory != nil { throw ValidationError("--queue-memory needs --record.") }
    if segment.count > 1, segmentTime == nil || segmentSize == nil || segment.count > 2 {
      throw ValidationError("--segment takes one time and one size, like --segment 10m --segment 500MB.")
    }
    if duration?.milliseconds == 0 { throw ValidationError("--duration 0 would leave before joining.") }
  }
}

extension SegmentLength {
  /// For `transform:`, as `TimeSpan.parse`.
  @Sendable static func parse(_ text: String) throws -> SegmentLength { try SegmentLength(text) }
}

extension TimeSpan {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> TimeSpan { try TimeSpan(text) }
}

/// The configuration of a call: the room, the input, the loopback, the recording and the network.
struct CallPlan: Sendable {
  var connectionSettings: ConnectionSettings
  /// Whether the embedded server may start if no server listens.
  var mayStartServer = false
  /// The input to play, or nil for none.
  var camera: LiveCamera.Options?
  /// The maximum bitrate sent to each viewer, in bits per second.
  var maximumBitrate = 2_500_000
  /// Whether each user's media is sent back to them, and after which delay.
  var loopback = false
  var delay: Duration = .zero
  /// The folder to record into, or nil for no recording.
  var record: String?
  var segment: SegmentLimit?
  /// Whether each recorded frame is decoded to verify it.
  var verifies = true
  /// The bytes of received frames that may wait to be written, or nil for a limit that follows the machine and the users.
  var queueMemory: Int?
  /// The time after which the bot leaves, or nil to stay.
  var duration: Duration?
  var impairment: Impairment?
  var fault: Fault?
  /// What the call says, offers and accepts on data channels.
  var messages = MessagePlan()
  /// A file with further texts to say, one a line.
  var sayFile: String?
  /// Whether the call is checked.
  var isCheck = false

  init(_ connectionSettings: ConnectionSettings) {
    self.connectionSettings = connectionSettings
  }

  /// The media that the call sends and receives. A check receives although it records nothing.
  var directions: ConnectionSettings.Directions {
    .init(sends: camera != nil || loopback, receives: record != nil || loopback || isCheck)
  }

  /// The name of the input, for log messages.
  var cameraName: String {
    switch camera?.input {
    case .file(let path): path
    case .standardInput: "standard input"
    case .pattern: "pattern"
    case nil: ""
    }
  }
}
