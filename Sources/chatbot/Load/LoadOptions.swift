import ArgumentParser

/// The options of `chatbot load`.
struct LoadOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The room to join. (default: the server's default room)", valueName: "name"))
  var room: String?

  @Option(
    help: ArgumentHelp(
      "The SkyRTC server, ws:// or wss://. (default: \(CallOptions.defaultServer))", valueName: "url"))
  var server: String?

  @Option(
    help: ArgumentHelp("How many publishers to be, 1 to \(Self.mostPublishers).", valueName: "count"))
  var publishers: Int

  @Option(
    help: ArgumentHelp("How fast they come: 10/s, 90/m.", valueName: "rate"), transform: RampRate.parse)
  var ramp = RampRate(perSecond: 10)

  @OptionGroup
  var playing: PlayOptions

  @Flag(help: "Take what others send, and call each other, too.")
  var receive = false

  @Option(
    help: ArgumentHelp(
      "Leave so long after the last one came: 90, 90s, 10m, 1h. (default: stay until a signal)", valueName: "time"),
    transform: TimeSpan.parse)
  var duration: TimeSpan?

  @Flag(help: "Print the report as one JSON object.")
  var json = false

  @Option(
    help: ArgumentHelp("The local address for media. (default: every address of this machine)", valueName: "address"))
  var bindAddress: String?

  @OptionGroup
  var log: LogOptions

  static let mostPublishers = 1000

  /// The server to go to.
  var serverURL: String { server ?? CallOptions.defaultServer }

  func validate() throws {
    guard playing.play != nil else { throw ValidationError("Publishers need something to send: --play FILE.") }
    guard (1...Self.mostPublishers).contains(publishers) else {
      throw ValidationError("--publishers is 1 to \(Self.mostPublishers), not \(publishers).")
    }
    if let room, room.isEmpty || room.unicodeScalars.count > CallOptions.longestRoom {
      throw ValidationError(
        "A room's name has 1 to \(CallOptions.longestRoom) characters, but this one has \(room.unicodeScalars.count).")
    }
    if duration?.milliseconds == 0 { throw ValidationError("--duration 0 would leave before anybody is connected.") }
    if let server { try AddressCheck.server(server) }
    if let bindAddress { try AddressCheck.address(bindAddress, option: "--bind-address") }
  }
}

extension RampRate {
  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> RampRate { try RampRate(text) }
}
