import ArgumentParser
import SkyRTC

/// Where the room is, and how we are to be reached; the same for every command that takes part in a call.
struct ConnectionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The room to join. (default: the server's default room)", valueName: "name"))
  var room: String?

  @Option(
    help: ArgumentHelp(
      "The SkyRTC server, ws:// or wss://. (default: \(ConnectionSettings.defaultServer); the call command starts a server there if none listens)",
      valueName: "url"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "CA certificates in PEM to trust for wss://. (default: those of the system)",
      valueName: "file"), completion: .file())
  var caCertificate: String?

  @Option(
    help: ArgumentHelp(
      "A STUN server that reports our public address, stun:host[:port]; repeatable.", valueName: "url"))
  var iceServer: [String] = []

  @Option(
    help: ArgumentHelp(
      "The UDP port for media, 0 for any free one. With --media-threads each further thread uses the next one.",
      valueName: "port"
    )
  )
  var udpPort: UInt16 = 0

  @Option(
    help: ArgumentHelp(
      "How many threads receive, send and write media; users are distributed over them. (default: 1; load: one for each processor)",
      valueName: "count"))
  var mediaThreads: Int?

  @Option(
    help: ArgumentHelp("The local address for media. (default: every address of this machine)", valueName: "address"))
  var bindAddress: String?

  @Option(help: ArgumentHelp("How many other users of the room are called and answered.", valueName: "count"))
  var maxUsers = SkyRTCClient.Options().maximumParticipants

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Check users' candidates on this machine and in private networks. (default: if the server is there)"))
  var allowLocalCandidates: Bool?

  /// The longest room name that the server takes, in Unicode scalars.
  static let maximumRoom = 128

  /// What they come to.
  var connectionSettings: ConnectionSettings {
    var connectionSettings = ConnectionSettings(server: server ?? ConnectionSettings.defaultServer)
    connectionSettings.room = room
    connectionSettings.authorities = caCertificate
    connectionSettings.iceServers = iceServer
    connectionSettings.udpPort = udpPort
    connectionSettings.bindAddress = bindAddress
    connectionSettings.mediaThreads = mediaThreads
    connectionSettings.maximumUsers = maxUsers
    connectionSettings.allowsLocalCandidates = allowLocalCandidates
    return connectionSettings
  }

  /// Makes sure that there is a port for each thread.
  func validatePorts() throws {
    let mediaThreads = mediaThreads ?? 1
    if udpPort > 0, Int(udpPort) + mediaThreads - 1 > 65_535 {
      throw ValidationError(
        "--media-threads \(mediaThreads) needs as many ports from --udp-port \(udpPort) on, and the last one is 65535.")
    }
  }

  func validate() throws {
    if let room, room.isEmpty || room.unicodeScalars.count > Self.maximumRoom {
      throw ValidationError(
        "A room's name has 1 to \(Self.maximumRoom) characters, but this one has \(room.unicodeScalars.count).")
    }
    guard (1...10_000).contains(maxUsers) else { throw ValidationError("--max-users is 1 to 10000, not \(maxUsers).") }
    let mediaThreads = mediaThreads ?? 1
    guard (1...64).contains(mediaThreads) else {
      throw ValidationError("--media-threads is 1 to 64, not \(mediaThreads).")
    }
    if let server { try AddressCheck.server(server) }
    if let caCertificate {
      if caCertificate.isEmpty { throw ValidationError("--ca-certificate needs the name of a file.") }
      guard server?.lowercased().hasPrefix("wss:") ?? false else {
        throw ValidationError("--ca-certificate needs --server wss://…; with ws:// there is no certificate.")
      }
    }
    for server in iceServer { try AddressCheck.iceServer(server) }
    if let bindAddress { try AddressCheck.address(bindAddress, option: "--bind-address") }
  }
}
