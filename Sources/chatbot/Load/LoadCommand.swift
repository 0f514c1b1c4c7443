import ArgumentParser
import Logging
import SignallingAdapters

/// Fills a room with publishers.
struct LoadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Fill a room with publishers that send a file or the pattern, and report the results.",
    discussion: """
      chatbot load --room 100 --publishers 50 --play samples/test.webm --duration 30s

      Each publisher has its own id, socket and certificate. The publishers call everyone else in the room. They call \
      each other only with --receive. With --udp-port and --tcp-port they use consecutive ports, beginning with that \
      one. Exits with 0 only if each of them was connected to someone.
      """)

  @OptionGroup var options: LoadOptions

  func run() async throws {
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("load", level: options.log.level)
    try await console.carryOut {
      try await Load(options: options, console: console, log: log).run()
    }
  }
}

/// The options of `chatbot load`.
struct LoadOptions: ParsableArguments {
  @OptionGroup(title: "Room and network")
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

  /// The settings of one publisher. Each has its own ports, counted from the requested ones.
  func connectionSettings(of publisher: Int) -> ConnectionSettings {
    var connectionSettings = connection.connectionSettings
    if connectionSettings.udpPort > 0 {
      connectionSettings.udpPort = UInt16(clamping: Int(connectionSettings.udpPort) + publisher)
    }
    if connectionSettings.tcpPort > 0 {
      connectionSettings.tcpPort = UInt16(clamping: Int(connectionSettings.tcpPort) + publisher)
    }
    return connectionSettings
  }

  func validate() throws {
    try connection.validate(uses: [.load])
    guard playing.play != nil else { throw ValidationError("Publishers need something to send: --play FILE.") }
    if data != nil, connection.connectionSettings.dataChannels == nil {
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
