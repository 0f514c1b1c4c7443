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
    help: ArgumentHelp("How many publishers, 1 to \(Self.maximumPublishers).", valueName: "count"))
  var publishers: Int

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
    parsing: .unconditional,
    help: ArgumentHelp(
      "Leave this long after the last one started: 90, 90s, 10m, 1h. (default: stay until a signal)", valueName: "time"),
    transform: TimeSpan.parse)
  var duration: TimeSpan?

  @Flag(help: "Print the report as one JSON object.")
  var json = false

  @OptionGroup(title: "Output")
  var log: LogOptions

  static let maximumPublishers = 1000

  /// Reads the files of secrets, and returns the settings of the load, without its source.
  func settings() throws(CallFailure) -> RoomLoad.Settings {
    let connection = try connection.settings(sends: true, receives: receive, sending: playing.sendCodec)
    let server = connection.server
    try server.check()
    var settings = RoomLoad.Settings(server: server.address, room: server.roomName) { publisher, log in
      try server.client(suffix: publisher == 0 ? "" : "-\(publisher)", log: log)
    }
    settings.peer = connection.peer
    settings.peer.maximumSendBitrate = playing.maxBitrate.bitsPerSecond
    if data != nil { settings.peer.dataChannels = server.capabilities.dataChannels.map { DataChannelOptions($0) } }
    settings.publishers = publishers
    settings.ramp = ramp
    settings.receives = receive
    settings.dataBitrate = data?.bitsPerSecond
    settings.duration = duration?.duration
    settings.waitsForConnections = !playing.loops
    return settings
  }

  func validate() throws {
    try connection.validate(uses: [.load])
    guard playing.play != nil else { throw ValidationError("Publishers need something to send: --play FILE.") }
    let server = try ServerSettings(address: connection.server ?? ServerSettings.defaultAddress)
    if data != nil, !server.capabilities.carriesDataChannels {
      throw ValidationError("--data needs data channels, which the calls of this signalling system do not have.")
    }
    guard (1...Self.maximumPublishers).contains(publishers) else {
      throw ValidationError("--publishers is 1 to \(Self.maximumPublishers), not \(publishers).")
    }
    for (port, name) in [(connection.udpPort, "UDP"), (connection.tcpPort, "TCP")] where port > 0 {
      let lastPort = Int(port) + publishers - 1
      guard lastPort > Int(UInt16.max) else { continue }
      throw ValidationError(
        "\(publishers) publishers take the \(name) ports from \(port) to \(lastPort), but \(UInt16.max) is the last one."
      )
    }
    if duration?.milliseconds == 0 { throw ValidationError("--duration 0 would leave before anyone is connected.") }
  }
}

extension RampRate {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> RampRate { try RampRate(text) }
}
