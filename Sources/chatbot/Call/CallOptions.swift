import ArgumentParser
import BotPeer
import Call
import OptionValues
import Recorder
import SignallingAdapters

/// The options of a call: the room, the input, the loopback, the recording and the network.
struct CallOptions: ParsableArguments {
  @OptionGroup
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
      "Put the files of --record into this store as they are closed: s3://BUCKET/PREFIX or file:///FOLDER. Runs chatbot-service upload. Segments are 60s without --segment.",
      valueName: "url"))
  var store: String?

  @Option(
    help: ArgumentHelp(
      "The names of recorded files, with the fields \(FileNameTemplate.fields). (default: {name})",
      valueName: "template"), transform: FileNameTemplate.parse)
  var fileName: FileNameTemplate?

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

  @OptionGroup(title: "End of the call")
  var ending: EndingOptions

  @Option(help: ArgumentHelp("Decode each recorded frame to verify it.", valueName: "on|off"))
  var verify: Switch = .on

  @Option(
    help: ArgumentHelp(
      "Begin with everybody paused until SIGUSR2 or the key r (required), or record at once (given). SIGUSR1 or p pauses again.",
      valueName: "required|given"))
  var consent: Consent = .given

  @Option(
    help: ArgumentHelp(
      "When the call has ended, compose what was recorded into this file, at low priority, as the command compose does.",
      valueName: "file"),
    completion: .file())
  var compose: String?

  @OptionGroup(title: "Chat and files")
  var messages: MessageOptions

  @OptionGroup(title: "Output")
  var log: LogOptions

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
    // What is lost with a machine is the open segment.
    if segment.isEmpty { return store == nil ? nil : SegmentLimit(duration: .seconds(60), bytes: nil) }
    return SegmentLimit(duration: segmentTime?.duration, bytes: segmentSize)
  }

  /// Reads the files of secrets and texts, and returns the call that the options describe.
  func settings() throws(CallFailure) -> CallSettings {
    var settings = try CallSettings(
      connection, playing, sends: playing.play != nil || loopback, receives: record != nil || loopback)
    try ending.checkFiles()
    settings.mayStartServer = mayStartServer
    settings.call.media.loopbackDelay = loopback ? delay?.duration ?? .zero : nil
    settings.call.recording = record.map { recording(in: $0, of: settings.server.roomName) }
    settings.server.signalling.records = record != nil
    // Browsers do not retransmit audio.
    if connection.media.audioRedundancy == nil { settings.call.peer.acceptsRedundantAudio = record != nil }
    settings.call.messages = try messages.plan()
    settings.call.duration = duration?.duration
    settings.call.leaveWhenEmpty = ending.leaveWhenEmpty?.duration
    settings.call.programs = try ending.programs()
    settings.call.leaveIfNobody = ending.leaveIfNobody?.duration
    return settings
  }

  private func recording(in folder: String, of room: String) -> RoomRecorder.Configuration {
    var configuration = RoomRecorder.Configuration(folder: folder, room: room)
    configuration.verifies = verifies
    configuration.paused = consent == .required ? .everybody : .nobody
    configuration.segment = segmentLimit
    configuration.fileName = fileName
    configuration.memoryLimit = queueMemory.map { Int($0.size.bytes) }
    return configuration
  }

  func validate() throws {
    try connection.validatePorts()
    try connection.validate(
      uses: record == nil ? [] : [.record], playing.play == nil ? [] : [.play], loopback ? [.loopback] : [])
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
    if record == nil, consent == .required { throw ValidationError("--consent needs --record.") }
    if record == nil, !segment.isEmpty { throw ValidationError("--segment needs --record.") }
    if record == nil, store != nil { throw ValidationError("--store needs --record.") }
    if store?.isEmpty == true { throw ValidationError("--store needs a URL like s3://bucket/prefix.") }
    if record == nil, fileName != nil { throw ValidationError("--file-name needs --record.") }
    if record == nil, compose != nil { throw ValidationError("--compose needs --record.") }
    if record == nil, queueMemory != nil { throw ValidationError("--queue-memory needs --record.") }
    if segment.count > 1, segmentTime == nil || segmentSize == nil || segment.count > 2 {
      throw ValidationError("--segment takes one time and one size, like --segment 10m --segment 500MB.")
    }
    try ending.validate(isRecording: record != nil, hasSegments: !segment.isEmpty || store != nil)
    if duration?.milliseconds == 0 { throw ValidationError("--duration 0 would leave before joining.") }
  }
}

/// Whether users must consent before they are recorded.
enum Consent: String, ExpressibleByArgument, CaseIterable { case required, given }

extension FileNameTemplate {
  /// For `transform:`, as `TimeSpan.parse`.
  @Sendable static func parse(_ text: String) throws -> FileNameTemplate { try FileNameTemplate(text) }
}
