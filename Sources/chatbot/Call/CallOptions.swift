import ArgumentParser
import Recorder

/// The options of a call: which room, what to play or to return, what to record, and how to be reached.
struct CallOptions: ParsableArguments {
  enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off
  }

  @OptionGroup(title: "Room and network")
  var reaching: ConnectionOptions

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
    parsing: .unconditional,
    help: ArgumentHelp("Leave after this time: 90, 90s, 10m, 1h, 250ms.", valueName: "time"), transform: TimeSpan.parse)
  var duration: TimeSpan?

  @Option(help: ArgumentHelp("Decode each recorded frame to verify it.", valueName: "on|off"))
  var verify: Switch = .on

  @OptionGroup(title: "Output")
  var log: LogOptions

  /// What stands where no option requests it; only a subcommand could be meant.
  @Argument(help: .hidden)
  var words: [String] = []

  /// The longest that media is kept back before it is returned.
  static let maximumDelay = TimeSpan(milliseconds: 10_000)

  /// Whether the embedded server may be started when nothing listens there: only if the user named none.
  var mayStartServer: Bool { reaching.server == nil }

  var verifies: Bool { verify == .on }

  /// After what time a recording's next file begins; nil for never.
  var segmentTime: TimeSpan? {
    segment.lazy.compactMap { if case .time(let time) = $0 { time } else { nil } }.first
  }

  /// After how many bytes a recording's next file begins; nil for never.
  var segmentSize: Int64? {
    segment.lazy.compactMap { if case .size(let bytes) = $0 { bytes } else { nil } }.first
  }

  /// When a recording's next file begins; nil for never.
  var segmentLimit: SegmentLimit? {
    segment.isEmpty ? nil : SegmentLimit(duration: segmentTime?.duration, bytes: segmentSize)
  }

  /// The call that is requested.
  var plan: CallPlan {
    var plan = CallPlan(reaching.connectionSettings)
    plan.mayStartServer = mayStartServer
    plan.camera = playing.camera
    plan.maximumBitrate = playing.maxBitrate.bitsPerSecond
    plan.loopback = loopback
    plan.delay = delay?.duration ?? .zero
    plan.record = record
    plan.segment = segmentLimit
    plan.verifies = verifies
    plan.duration = duration?.duration
    return plan
  }

  func validate() throws {
    try reaching.validatePorts()
    if let word = words.first { throw ValidationError(Subcommands.rejection(of: word)) }
    guard playing.play != nil || record != nil || loopback else {
      throw ValidationError("There is nothing to do: give --record FOLDER, --play FILE or --loopback.")
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
    if segment.count > 1, segmentTime == nil || segmentSize == nil || segment.count > 2 {
      throw ValidationError("--segment takes one time and one size, like --segment 10m --segment 500MB.")
    }
    if duration?.milliseconds == 0 { throw ValidationError("--duration 0 would leave before joining.") }
  }
}

extension SegmentLength {
  /// For `transform:`, like `TimeSpan.parse`.
  @Sendable static func parse(_ text: String) throws -> SegmentLength { try SegmentLength(text) }
}

extension TimeSpan {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> TimeSpan { try TimeSpan(text) }
}
