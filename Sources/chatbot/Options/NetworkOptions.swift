import ArgumentParser
import BotPeer
import FoundationEssentials
import Media
import OptionValues
import SignallingAdapters

/// The options for addresses, ports and ICE; the same for every command that joins a call.
struct NetworkOptions: ParsableArguments {
  @OptionGroup
  var ice: ICEServerOptions

  @Option(
    help: ArgumentHelp(
      "Whether users may reach us directly, or only through a TURN server.", valueName: "all|relay"))
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
    help: ArgumentHelp("The local address for media. (default: every address of this machine)", valueName: "address"))
  var bindAddress: String?

  @Option(
    help: ArgumentHelp(
      "An interface for media; repeat it for several. Only its addresses are used, also when they change. (default: "
        + "every interface)", valueName: "name"))
  var bindInterface: [String] = []

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

  func describe(_ peer: inout Peer.Configuration, server: ServerSettings) throws(CallFailure) {
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
    peer.iceTransportPolicy = iceTransportPolicy
    peer.restartsICE = server.capabilities.restartsICE
  }

  /// Checks what depends on the server and on the number of threads.
  func validate(for server: ServerSettings, threads: Int) throws {
    if iceTransportPolicy == .relay, !server.capabilities.assignsICEServers,
      !ice.iceServer.contains(where: { $0.lowercased().hasPrefix("turn") })
    {
      throw ValidationError(
        "--ice-transport-policy relay needs a TURN server: --ice-server turn:host. \(server.adapter.name) names none.")
    }
    if tcpPort > 0, !tcp { throw ValidationError("--tcp-port needs --tcp.") }
    try AddressCheck.tcpPorts(tcpPort, count: threads)
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

/// The options for codecs and threads; the same for every command that joins a call.
struct MediaOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "How many threads receive, send and write media; users are distributed over them. (default: 1; load: one for each processor)",
      valueName: "count"))
  var mediaThreads: Int?

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

  @Option(
    help: ArgumentHelp(
      "Ask for audio with copies of earlier packets (RED), which repair losses and take twice as many bytes. (default: on with "
        + "--record, off in check)",
      valueName: "on|off"))
  var audioRedundancy: Switch?

  func validate() throws {
    let mediaThreads = mediaThreads ?? 1
    guard (1...64).contains(mediaThreads) else {
      throw ValidationError("--media-threads is 1 to 64, not \(mediaThreads).")
    }
  }
}

/// The value of an option that is on or off by circumstances.
enum Switch: String, ExpressibleByArgument, CaseIterable {
  case on, off
}
