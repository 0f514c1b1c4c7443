import ArgumentParser
import BotPeer
import FoundationEssentials
import Glibc
import HTTPTransport
import Media
import Signalling
import SignallingAdapters

/// The options for the room, the server and the network; the same for every command that joins a call.
struct ConnectionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The room to join. (default: the server's default room)", valueName: "name"))
  var room: String?

  @Option(
    help: ArgumentHelp(
      "The server's address; its scheme names the signalling system, see chatbot signallings. (default: "
        + "\(ServerSettings.defaultAddress); the call command starts a server there if none listens)",
      valueName: "url"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "Our name, which others see, for \(SignallingSystems.names(with: .name)). (default: "
        + "\(SignallingSettings.defaultName))", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "The user as whom we log in and whom others call, for \(SignallingSystems.names(with: .user)); also the name, without "
        + "--name.", valueName: "name"))
  var user: String?

  @Option(
    name: .customLong("call"),
    help: ArgumentHelp(
      "A user to call, for \(SignallingSystems.names(with: .callees)); repeatable. Without it the bot waits to be called.",
      valueName: "name"))
  var callees: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file with the server's token, for \(SignallingSystems.names(with: .token)), or with a service account, for "
        + "\(SignallingSystems.names(with: .serviceAccount)). (default: the variable CHATBOT_TOKEN)", valueName: "file"),
    completion: .file())
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with the room's PIN, for \(SignallingSystems.names(with: .pin)). (default: the variable CHATBOT_PIN)",
      valueName: "file"),
    completion: .file())
  var pinFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with the API secret of a \(SignallingSystems.names(with: .apiSecret, conjunction: "or")) server. (default: the "
        + "variable CHATBOT_API_SECRET)", valueName: "file"),
    completion: .file())
  var apiSecretFile: String?

  @Option(
    help: ArgumentHelp(
      "A file with our token for the room, for \(SignallingSystems.names(with: .roomToken)). (default: the variable "
        + "CHATBOT_ROOM_TOKEN)", valueName: "file"),
    completion: .file())
  var roomTokenFile: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How long to wait for a server that cannot be reached: 60s. (default: 0s)", valueName: "time"),
    transform: TimeSpan.parse)
  var waitForServer: TimeSpan?

  @Flag(
    help: ArgumentHelp(
      "Follow redirects and session addresses of a \(SignallingSystems.names(with: .redirects, conjunction: "or")) server to "
        + "other origins, but never into a private network that the server is not in."))
  var allowRedirects = false

  @Option(
    help: ArgumentHelp(
      "CA certificates in PEM to trust for a secure address and for TURN servers over TLS. (default: those of the system)",
      valueName: "file"), completion: .file())
  var caCertificate: String?

  @OptionGroup
  var ice: ICEServerOptions

  @Option(help: "Whether users may reach us directly, or only through a TURN server.")
  var iceTransportPolicy = Peer.ICETransportPolicy.all

  @Option(
    help: ArgumentHelp(
      "The UDP port for media, 0 for any free one. With --media-threads each further thread uses the next one.",
      valueName: "port"
    )
  )
  var udpPort: UInt16 = 0

  @Flag(
    help: ArgumentHelp(
      "Also use TCP with users whom UDP does not reach: they can connect to us, and we connect to them (RFC 6544)."))
  var tcp = false

  @Option(
    help: ArgumentHelp(
      "The TCP port for --tcp, 0 for any free one. With --media-threads each further thread uses the next one.",
      valueName: "port"))
  var tcpPort: UInt16 = 0

  @Option(
    help: ArgumentHelp(
      "How many threads receive, send and write media; users are distributed over them. (default: 1; load: one for each processor)",
      valueName: "count"))
  var mediaThreads: Int?

  @Option(
    help: ArgumentHelp("The local address for media. (default: every address of this machine)", valueName: "address"))
  var bindAddress: String?

  @Option(
    help: ArgumentHelp(
      "An interface for media; repeat it for several. Only its addresses are used, also when they change. (default: "
        + "every interface)", valueName: "name"))
  var bindInterface: [String] = []

  @Option(
    help: ArgumentHelp(
      "The video codecs that may be used, the best first, separated by commas. (default: \(CodecList.all(of: .video)))",
      valueName: "names"), transform: { try CodecList.parse($0, of: .video) })
  var videoCodecs: [Codec]?

  @Option(
    help: ArgumentHelp(
      "The audio codecs that may be used, the best first, separated by commas. (default: \(CodecList.all(of: .audio)))",
      valueName: "names"), transform: { try CodecList.parse($0, of: .audio) })
  var audioCodecs: [Codec]?

  @Option(help: ArgumentHelp("How many other users of the room are called and answered.", valueName: "count"))
  var maxUsers = SignallingSettings.defaultMaximumUsers

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Whether to check users' candidates on this machine and in private networks. (default: yes if the server is on "
        + "this machine or in a private network)"))
  var allowLocalCandidates: Bool?

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp(
      "Whether to look up the .local names with which browsers hide their addresses, by multicast DNS on the local network."
    ))
  var mdns = true

  @Flag(
    help: ArgumentHelp(
      "Tell users random .local names instead of our addresses, which only machines in our local network can resolve."))
  var hideAddresses = false

  /// The maximum length of a room name that the server accepts, in Unicode scalars.
  static let maximumRoom = 128

  /// Reads the secrets, and returns the settings that the options describe.
  ///
  /// - Parameters:
  ///   - sends: Whether we send media, and `receives`, whether we receive it: for systems that must know it when we join.
  ///   - codec: The codec of the video that we send, which is preferred unless the codecs were chosen.
  func settings(sends: Bool, receives: Bool, sending codec: Codec? = nil) throws(CallFailure) -> ConnectionSettings {
    var settings = ConnectionSettings(server: try ServerSettings(address: server ?? ServerSettings.defaultAddress))
    try describe(&settings.server)
    settings.server.signalling.sends = sends
    settings.server.signalling.receives = receives
    try describe(&settings.peer, server: settings.server)
    if let codec, videoCodecs == nil {
      let preferred = [codec] + Codec.all(of: codec.kind).filter { $0 != codec }
      settings.server.signalling.videoCodecs = preferred
      settings.peer.videoCodecs = preferred
    }
    return settings
  }

  /// Describes the client. Of the secrets only those are read that the system understands: other files and variables may be those
  /// of other programs.
  private func describe(_ server: inout ServerSettings) throws(CallFailure) {
    func secret(_ option: SignallingOption, _ path: String?, _ variable: String) throws(CallFailure) -> String? {
      server.adapter.options.contains(option) ? try SecretFile(path: path, variable: variable).read() : nil
    }
    server.waitForServer = waitForServer?.duration ?? .zero
    server.signalling.room = room
    server.signalling.user = user
    server.signalling.name = name
    server.signalling.callees = callees
    server.signalling.token = try secret(.token, tokenFile, "CHATBOT_TOKEN")
    server.signalling.pin = try secret(.pin, pinFile, "CHATBOT_PIN")
    server.signalling.apiSecret = try secret(.apiSecret, apiSecretFile, "CHATBOT_API_SECRET")
    server.signalling.roomToken = try secret(.roomToken, roomTokenFile, "CHATBOT_ROOM_TOKEN")
    server.signalling.serviceAccountFile = tokenFile
    server.signalling.trust = caCertificate.map { .file($0) } ?? .system
    server.signalling.maximumUsers = maxUsers
    server.signalling.audioCodecs = audioCodecs
    server.signalling.videoCodecs = videoCodecs
    server.signalling.waitsForStream = server.waitForServer > .zero
    server.signalling.followsOtherOrigins = allowRedirects
  }

  private func describe(_ peer: inout Peer.Configuration, server: ServerSettings) throws(CallFailure) {
    peer.bindAddresses = bindAddress.map { [$0] } ?? []
    peer.bindInterfaces = bindInterface
    peer.includesLoopback = server.isHere
    // A server in a private network has participants there.
    peer.allowsLocalCandidates = allowLocalCandidates ?? server.isLocal
    peer.resolvesLocalNames = mdns
    peer.hidesAddresses = hideAddresses
    peer.udpPort = udpPort
    peer.usesTCP = tcp
    peer.tcpPort = tcpPort
    peer.videoCodecs = videoCodecs
    peer.audioCodecs = audioCodecs
    peer.use(try ice.servers(), for: user ?? "chatbot")
    peer.iceTransportPolicy = iceTransportPolicy
    peer.restartsICE = server.capabilities.restartsICE
    peer.caCertificate = caCertificate
    peer.maximumDeparted = max(peer.maximumDeparted, maxUsers)
  }

  /// Checks that the signalling system allows what the command does.
  func validate(uses: [SignallingUse]...) throws {
    guard let server, let system = SignallingSystems.adapter(of: server) else { return }
    for use in uses.joined() where !system.uses.contains(use) {
      let possible = SignallingUse.allCases.filter(system.uses.contains).map(\.rawValue)
      throw ValidationError(
        "\(system.name) does not allow \(use.rawValue); it allows \(possible.joined(separator: ", ")).")
    }
  }

  /// Checks that there is a port for each thread.
  func validatePorts() throws {
    let mediaThreads = mediaThreads ?? 1
    for (port, name) in [(udpPort, "UDP"), (tcpPort, "TCP")]
    where port > 0 && Int(port) + mediaThreads - 1 > 65_535 {
      throw ValidationError(
        "--media-threads \(mediaThreads) needs \(mediaThreads) consecutive \(name) ports from \(port), but the highest port is "
          + "65535.")
    }
  }

  func validate() throws {
    if let room, room.isEmpty || room.unicodeScalars.count > Self.maximumRoom {
      throw ValidationError(
        "A room's name has 1 to \(Self.maximumRoom) characters, but this one has \(room.unicodeScalars.count).")
    }
    if let name, DisplayName(name) == nil || name.unicodeScalars.count > DisplayName.maximumLength {
      throw ValidationError(
        "--name has 1 to \(DisplayName.maximumLength) characters, of which at least one is visible.")
    }
    guard (1...10_000).contains(maxUsers) else { throw ValidationError("--max-users is 1 to 10000, not \(maxUsers).") }
    let mediaThreads = mediaThreads ?? 1
    guard (1...64).contains(mediaThreads) else {
      throw ValidationError("--media-threads is 1 to 64, not \(mediaThreads).")
    }
    if let server { try AddressCheck.server(server) }
    // A server without TLS may assign TURN servers with TLS.
    if caCertificate?.isEmpty ?? false { throw ValidationError("--ca-certificate needs the name of a file.") }
    if let waitForServer, waitForServer.milliseconds > 3_600_000 {
      throw ValidationError("--wait-for-server is at most 1h.")
    }
    let server = try ServerSettings(address: server ?? ServerSettings.defaultAddress)
    let system = server.adapter
    if allowRedirects, !system.options.contains(.redirects) {
      throw ValidationError("--allow-redirects is for \(SignallingSystems.names(with: .redirects)) servers.")
    }
    if iceTransportPolicy == .relay, !server.capabilities.assignsICEServers,
      !ice.iceServer.contains(where: { $0.lowercased().hasPrefix("turn") })
    {
      throw ValidationError(
        "--ice-transport-policy relay needs a TURN server: --ice-server turn:host. \(system.name) names none.")
    }
    if tcpPort > 0, !tcp { throw ValidationError("--tcp-port needs --tcp.") }
    try AddressCheck.tcpPorts(tcpPort, count: mediaThreads)
    if tcpPort > 0, server.isHere, URLComponents(string: server.address)?.port == Int(tcpPort) {
      throw ValidationError("--tcp-port needs another port than that of the room server on this machine, \(tcpPort).")
    }
    if tcp, iceTransportPolicy == .relay {
      throw ValidationError(
        "--tcp and --ice-transport-policy relay exclude each other; turn:host?transport=tcp is TCP to a relay.")
    }
    try AddressCheck.source(bindAddress: bindAddress, bindInterfaces: bindInterface)
  }
}

/// What joins a room: the server for its adapter, and the network for its peer. Each part travels whole to what it is for.
struct ConnectionSettings: Sendable {
  var server: ServerSettings
  var peer = Peer.Configuration()
}

/// Validates addresses before connecting to them.
enum AddressCheck {
  /// Validates the local address or the interfaces to send from.
  static func source(bindAddress: String?, bindInterfaces: [String]) throws {
    if let bindAddress { try address(bindAddress, option: "--bind-address") }
    if bindAddress != nil, !bindInterfaces.isEmpty {
      throw ValidationError("--bind-interface cannot be used together with --bind-address.")
    }
    if let name = bindInterfaces.first(where: { !(1...15).contains($0.utf8.count) || $0.contains("/") }) {
      throw ValidationError("--bind-interface needs the name of an interface, like eth0, not \"\(name)\".")
    }
  }

  /// Validates the address of a server: a scheme of a signalling system, a host, and what follows.
  static func server(_ text: String) throws(ValidationError) {
    if let system = SignallingSystems.adapter(of: text), !system.addressIsURL { return }
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased() else {
      throw ValidationError(
        "\"\(text)\" is not a server address; one looks like \(ServerSettings.defaultAddress).")
    }
    guard let system = SignallingSystems.adapter(of: text) else {
      let schemes = SignallingSystems.all.flatMap(\.addressPrefixes)
      throw ValidationError(
        "The URL of a server must start with \(schemes.dropLast().joined(separator: ", ")) or \(schemes.last ?? ""), "
          + "not \(scheme)://.")
    }
    guard system.addressNamesHost else { return }
    guard let host = parts.host, !host.isEmpty else {
      throw ValidationError("\"\(text)\" names no host; an address looks like \(ServerSettings.defaultAddress).")
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      throw ValidationError("A port is 1 to 65535, not \(port).")
    }
  }

  /// Validates the TCP ports of ICE, one for each thread.
  static func tcpPorts(_ first: UInt16, count: Int = 1) throws(ValidationError) {
    // In candidates it stands for no port (RFC 6544, 4.5).
    guard first > 0, first <= 9, Int(first) + count > 9 else { return }
    throw ValidationError("--tcp-port cannot use port 9, the Discard protocol's.")
  }

  /// Validates a numeric IPv4 or IPv6 address.
  static func address(_ text: String, option: String) throws(ValidationError) {
    var space = in6_addr()
    guard inet_pton(AF_INET, text, &space) == 1 || inet_pton(AF_INET6, text, &space) == 1 else {
      throw ValidationError("\(option) needs a numeric IP address, like 192.0.2.1 or 2001:db8::1, not \"\(text)\".")
    }
  }
}
