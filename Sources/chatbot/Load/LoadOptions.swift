import ArgumentParser
import BotPeer
import Load
import OptionValues
import Room
import Signalling
import SignallingAdapters

/// The options of `chatbot load`.
struct LoadOptions: ParsableArguments {
  @OptionGroup
  var connection: ConnectionOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many publishers send a file or the pattern, with the viewers 1 to \(Self.maximumParticipants).",
      valueName: "count"))
  var publishers = 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How many viewers receive from everyone else in the room, and measure that. They join after the publishers.",
      valueName: "count"))
  var viewers = 0

  @Option(
    help: ArgumentHelp("How fast they join: 10/s, 90/m. (default: 10/s)", valueName: "rate"), transform: RampRate.parse)
  var ramp = RampRate(perSecond: 10)

  @OptionGroup(title: "Input")
  var playing: PlayOptions

  @Flag(help: "Receive what others send, and call each other.")
  var receive = false

  @Option(
    help: ArgumentHelp(
      "Send messages at this bitrate on a data channel to each user, who must send them back: 100k, 2M.",
      valueName: "bitrate"),
    transform: Bitrate.parse)
  var data: Bitrate?

  @Option(
    help: ArgumentHelp(
      "A rule, like 'publishers.connected >= 50' or 'received.loss <= 1%'; repeatable. Exits with 1 if one does not hold.",
      valueName: "rule"))
  var expect: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave this long after the last one started: 90, 90s, 10m, 1h. (default: stay until a signal)", valueName: "time"),
    transform: TimeSpan.parse)
  var duration: TimeSpan?

  @Flag(help: "Print the report as one JSON object.")
  var json = false

  @OptionGroup(title: "Output")
  var log: LogOptions

  /// The maximum number of publishers and viewers together.
  static let maximumParticipants = 1000

  /// Reads the files of secrets, and returns the settings of the load, without its source.
  func settings() throws(CallFailure) -> RoomLoad.Settings {
    let connection = try connection.settings(sends: true, receives: receive, sending: playing.sendCodec)
    let server = connection.server
    try server.check()
    let publishers = publishers
    var settings = RoomLoad.Settings(server: server.name, room: server.roomName) { index, log in
      var server = server
      if index >= publishers { (server.signalling.sends, server.signalling.receives) = (false, true) }
      return try server.client(suffix: index == 0 ? "" : "-\(index)", log: log)
    }
    settings.peer = connection.peer
    settings.peer.maximumSendBitrate = playing.maxBitrate.bitsPerSecond
    if data != nil { settings.peer.dataChannels = server.capabilities.dataChannels.map { DataChannelOptions($0) } }
    settings.publishers = publishers
    settings.viewers = viewers
    settings.ramp = ramp
    settings.receives = receive
    settings.dataBitrate = data?.bitsPerSecond
    settings.waitForServer = server.waitForServer
    settings.unreachableHint = server.startHint
    settings.duration = duration?.duration
    settings.waitsForConnections = publishers > 0 && !playing.loops
    return settings
  }

  /// The rules of `--expect`.
  func rules() throws(ValidationError) -> [LoadRule] {
    var rules: [LoadRule] = []
    for text in expect {
      do throws(LoadRule.ParseError) {
        rules.append(try LoadRule(text))
      } catch {
        throw ValidationError("--expect '\(text)': \(error)")
      }
    }
    return rules
  }

  func validate() throws {
    try connection.validate(
      uses: [.load], publishers > 0 ? [.play] : [], viewers > 0 ? [.record] : [],
      called: [.play: "publishers", .record: "viewers"])
    _ = try rules()
    try validateParticipants()
    let server = try ServerSettings(address: connection.server ?? ServerSettings.defaultAddress)
    if data != nil, !server.capabilities.carriesDataChannels {
      throw ValidationError("--data needs data channels, which the calls of this signalling system do not have.")
    }
    let participants = publishers + viewers
    let who = viewers == 0 ? "publishers" : publishers == 0 ? "viewers" : "publishers and viewers"
    for (port, name) in [(connection.udpPort, "UDP"), (connection.tcpPort, "TCP")] where port > 0 {
      let lastPort = Int(port) + participants - 1
      guard lastPort > Int(UInt16.max) else { continue }
      throw ValidationError(
        "\(participants) \(who) take the \(name) ports from \(port) to \(lastPort), but \(UInt16.max) is the last one."
      )
    }
    if duration?.milliseconds == 0 { throw ValidationError("--duration 0 would leave before anyone is connected.") }
  }

  private func validateParticipants() throws {
    let range = 0...Self.maximumParticipants
    for (option, count) in [("--publishers", publishers), ("--viewers", viewers)] where !range.contains(count) {
      throw ValidationError("\(option) is 0 to \(Self.maximumParticipants), not \(count).")
    }
    if publishers + viewers == 0 { throw ValidationError("A load needs --publishers COUNT, --viewers COUNT or both.") }
    if publishers + viewers > Self.maximumParticipants {
      throw ValidationError(
        "--publishers and --viewers are at most \(Self.maximumParticipants) together, not \(publishers + viewers).")
    }
    if publishers > 0, playing.play == nil {
      throw ValidationError("Publishers need something to send: --play FILE.")
    }
    guard publishers == 0 else { return }
    for (option, isGiven) in [("--play", playing.play != nil), ("--receive", receive), ("--data", data != nil)]
    where isGiven {
      throw ValidationError("\(option) is for publishers: add --publishers COUNT.")
    }
  }
}

extension RampRate {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> RampRate { try RampRate(text) }
}
