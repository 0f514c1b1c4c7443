public import ArgumentParser
import BotPeer
import Call
import CallCheck
public import FaultInjection
import LiveSource
import Media
import NetworkEmulation
import OptionValues
import Recorder
import SignallingAdapters

/// The options of `chatbot check`.
struct CheckOptions: ParsableArguments {
  @OptionGroup
  var connection: ConnectionOptions

  @Flag(name: .customLong("self"), help: "Check this machine: server, player and checker in one process.")
  var selfCheck = false

  // `.unconditional`, so that a negative number is read as an out-of-range value and not as an option.
  @Option(parsing: .unconditional, help: ArgumentHelp("How many peers are expected.", valueName: "count"))
  var peers = 1

  @Option(
    help: ArgumentHelp(
      "Do not judge the peers with this id or name; repeatable. They are called, and do not count as peers.",
      valueName: "id|name"))
  var ignore: [String] = []

  @Option(
    help: ArgumentHelp("Judge only the peers with this id or name; repeatable.", valueName: "id|name"))
  var only: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long to wait until all peers send: 45s, 2m. (default: 30s)", valueName: "time"),
    transform: TimeSpan.parse)
  var wait = TimeSpan(milliseconds: 30_000)

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp(
      "How long to measure, from the moment when all expected peers send: 45s, 5m. (default: 20s)", valueName: "time"),
    transform: TimeSpan.parse)
  var span = TimeSpan(milliseconds: 20_000)

  @OptionGroup(title: "Input")
  var playing: PlayOptions

  @OptionGroup(title: "Rules and reports")
  var rules: RuleOptions

  @Option(
    help: ArgumentHelp("Record each peer into this folder and keep the recordings.", valueName: "folder"),
    completion: .directory)
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Degrade the network: 'loss=5%,burst=3,delay=80ms,jitter=20ms,rate=500kbit,reorder=1%', by direction with send: or "
        + "receive:, or as a script: '0s: …; 10s: rate=150kbit; 20s: none'.",
      valueName: "what"))
  var impair: String?

  @Option(
    help: ArgumentHelp(
      "The random seed of --impair: the same number gives the same losses. (default: 1)", valueName: "number"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "Send messages at this bitrate on a data channel to each peer, which must send them back: 100k, 2M.",
      valueName: "bitrate"),
    transform: Bitrate.parse)
  var data: Bitrate?

  @Option(
    name: [.customLong("fault"), .customLong("act")],
    help: ArgumentHelp("Inject a fault; --faults lists them.", valueName: "name"),
    completion: .list(Fault.allCases.map(\.rawValue)))
  var fault: Fault?

  @Flag(
    name: [.customLong("faults"), .customLong("acts")],
    help: "List the faults, and what a good app does.")
  var listsFaults = false

  @OptionGroup(title: "Output")
  var log: LogOptions

  private static let maximumPeers = 100
  /// The maximum number of values of `--ignore`, and of `--only`.
  private static let maximumChosen = 100

  /// Reads the files of secrets, and returns the call that the check joins.
  func settings() throws -> CallSettings {
    var settings = try CallSettings(connection, playing, sends: true, receives: true)
    settings.camera = camera
    settings.call.peer.network = try impairment().map { .emulating($0) }
    settings.call.peer.interceptors = peerFault.map { [.injecting($0)] } ?? []
    settings.call.media.endsWithSource = false
    settings.call.recording = record.map { recording(in: $0, of: settings.server) }
    return settings
  }

  /// The recording of a check, which is verified by judging it.
  func recording(in folder: String, of server: ServerSettings) -> RoomRecorder.Configuration {
    var configuration = RoomRecorder.Configuration(folder: folder, room: server.roomName)
    configuration.verifies = false
    return configuration
  }

  /// The input, by default the test pattern.
  var camera: LiveCamera.Options {
    var camera =
      playing.camera(allowing: connection.media.videoCodecs)
      ?? LiveCamera.Options(
        input: .pattern, maximumBitrate: playing.maxBitrate.bitsPerSecond, owner: ParticipantID("camera"))
    if fault?.isInjectedBySource == true { camera.sizeChange = .seconds(2) }
    return camera
  }

  /// The fault that the peer injects, not the input.
  var peerFault: Fault? { fault?.isInjectedBySource == true ? nil : fault }

  /// The rules of the check, including `--peers` as a rule unless a given rule covers it or the default rules, which
  /// contain it, apply.
  func allRules() throws -> RuleList {
    var list = try rules.rules()
    if !list.includesDefaults, !list.isGiven("peers") { list.given.append(try Rule("peers >= \(peers)")) }
    return list
  }

  /// What the judge expects and whom it judges; the wall clock and the rules are set by the caller.
  func judging(start: ContinuousClock.Instant, room: String) -> CallJudge.Options {
    var judging = CallJudge.Options(start: start, room: room)
    judging.expected = rules.expectation(peers: peers)
    if selfCheck { judging.expected.pattern = .played }
    judging.ignored = Set(ignore)
    judging.only = Set(only)
    return judging
  }

  func impairment() throws -> Impairment? {
    guard let impair else { return nil }
    do {
      return try Impairment(parsing: impair, seed: seed ?? 1)
    } catch {
      throw ValidationError("--impair '\(impair)': \(error)")
    }
  }

  /// Whether the command only prints a list.
  var onlyLists: Bool { listsFaults || rules.measurements }

  func validate() throws {
    try connection.validatePorts()
    try connection.validate(uses: [.check], playing.play == nil ? [] : [.play])
    if onlyLists { return }
    guard (1...Self.maximumPeers).contains(peers) else {
      throw ValidationError("--peers is 1 to \(Self.maximumPeers), not \(peers).")
    }
    if selfCheck, connection.server != nil || connection.room != nil {
      throw ValidationError("--self uses its own server and room, so it cannot be combined with --server and --room.")
    }
    if selfCheck, rules.content == .returned {
      throw ValidationError(
        "--self cannot be combined with --content returned, because its player returns nothing.")
    }
    try validateChoice()
    if seed != nil, impair == nil { throw ValidationError("--seed needs --impair.") }
    if selfCheck, peers != 1 { throw ValidationError("--self has exactly one peer; omit --peers.") }
    if wait.milliseconds == 0 { throw ValidationError("--wait 0 would end before anyone can join.") }
    if span.milliseconds < 1_000 { throw ValidationError("--for is at least 1s: less cannot be judged.") }
    if record?.isEmpty == true { throw ValidationError("--record needs the name of a folder.") }
    _ = try impairment()
  }

  /// Checks the ids and names of the peers to judge.
  private func validateChoice() throws {
    for (option, values) in [("--ignore", ignore), ("--only", only)] where !values.isEmpty {
      if selfCheck { throw ValidationError("--self has exactly one peer; omit \(option).") }
      if values.contains("") { throw ValidationError("\(option) needs the id or the name of a peer.") }
      if values.count > Self.maximumChosen {
        throw ValidationError("\(option) may be given at most \(Self.maximumChosen) times, not \(values.count).")
      }
    }
    if let both = only.first(where: ignore.contains) {
      throw ValidationError("“\(both)” cannot be in both --only and --ignore.")
    }
  }
}

extension Fault: ExpressibleByArgument {}
