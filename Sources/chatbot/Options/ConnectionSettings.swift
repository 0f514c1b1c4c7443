import BotPeer
import FoundationEssentials
import Glibc
import HTTPTransport
import Media
import Signalling
import SignallingAdapters

/// The settings of the room, the server and the network.
struct ConnectionSettings: Sendable, Hashable {
  /// The address of the server, whose scheme names the signalling system.
  var server: String
  /// Nil for the server's default room.
  var room: String?
  /// Our name, for systems whose users have names.
  var user: String?
  /// The users to call, for systems in which users call each other.
  var callees: [String] = []
  /// The token that the server requires, and the PIN of the room.
  var token = SecretFile(path: nil, variable: "CHATBOT_TOKEN")
  var pin = SecretFile(path: nil, variable: "CHATBOT_PIN")
  /// The API secret of a Janus server, and our token for one of its rooms.
  var apiSecret = SecretFile(path: nil, variable: "CHATBOT_API_SECRET")
  var roomToken = SecretFile(path: nil, variable: "CHATBOT_ROOM_TOKEN")
  /// How long to wait for a server that cannot be reached.
  var waitForServer: Duration = .zero
  /// Whether redirects and session addresses may lead to other origins.
  var followsOtherOrigins = false
  /// A PEM file with the CA certificates to trust for secure servers, of rooms and TURN; nil for the system's.
  var caCertificate: String?
  /// STUN and TURN servers.
  var ice = ICEServerSettings()
  var iceTransportPolicy = Peer.ICETransportPolicy.all
  /// 0 for any free port.
  var udpPort: UInt16 = 0
  /// Whether users may also be reached over TCP, and our port for it; 0 for any free port.
  var usesTCP = false
  /// The codecs that may be negotiated; nil for all.
  var videoCodecs: [Codec]?
  var audioCodecs: [Codec]?
  var tcpPort: UInt16 = 0
  /// The number of media threads, each with its own sockets; nil for the command's default.
  var mediaThreads: Int?
  /// The maximum number of other participants of the room.
  var maximumUsers = SignallingSettings.defaultMaximumUsers
  /// Nil for every address of the machine.
  var bindAddress: String?
  /// The only interfaces for media; empty for all.
  var bindInterfaces: [String] = []
  /// Whether candidates of other participants with addresses of this machine or of private networks are checked. Nil to
  /// decide by the server's address: a server in a private network has participants there.
  var allowsLocalCandidates: Bool?
  /// Whether the `.local` names of browsers are looked up on the local network.
  var resolvesLocalNames = true
  /// Whether users learn names instead of our addresses.
  var hidesAddresses = false

  /// Prefers the codec of what we send, unless the codecs were chosen.
  mutating func prefer(_ codec: Codec?) {
    guard let codec, videoCodecs == nil else { return }
    videoCodecs = [codec] + Codec.all(of: codec.kind).filter { $0 != codec }
  }

  /// The server used if none is named.
  static let defaultServer = "ws://localhost:3000"

  /// The signalling system; nil if none has the address's scheme.
  var adapter: (any SignallingAdapter)? { SignallingSystems.adapter(of: server) }

  /// The room's name for people.
  var roomName: String { room ?? adapter?.defaultRoom ?? server }

  /// Whether other participants may be on this machine, as the signalling system says.
  var isServerHere: Bool {
    adapter?.offersLoopback(at: SignallingAddress(server), environment: ProcessInfo.processInfo.environment) ?? false
  }

  /// The host of the server; nil if the address names none.
  private var serverHost: String? {
    adapter?.host(of: SignallingAddress(server), environment: ProcessInfo.processInfo.environment)
  }

  /// Whether the server runs on this machine or in a private network.
  private var isServerLocal: Bool {
    if isServerHere { return true }
    return serverHost.map(HostAddresses.of)?.contains(where: Peer.Configuration.isLocalAddress) ?? false
  }

  /// The peer configuration for these settings.
  func peerConfiguration() throws(CallFailure) -> Peer.Configuration {
    var configuration = Peer.Configuration()
    configuration.bindAddresses = bindAddress.map { [$0] } ?? []
    configuration.bindInterfaces = bindInterfaces
    configuration.includesLoopback = isServerHere
    configuration.allowsLocalCandidates = allowsLocalCandidates ?? isServerLocal
    configuration.resolvesLocalNames = resolvesLocalNames
    configuration.hidesAddresses = hidesAddresses
    configuration.udpPort = udpPort
    configuration.videoCodecs = videoCodecs
    configuration.audioCodecs = audioCodecs
    configuration.usesTCP = usesTCP
    configuration.tcpPort = tcpPort
    configuration.use(try ice.read(), for: user ?? "chatbot")
    configuration.iceTransportPolicy = iceTransportPolicy
    configuration.restartsICE = adapter?.capabilities(at: SignallingAddress(server)).restartsICE ?? true
    configuration.caCertificate = caCertificate
    configuration.maximumDeparted = max(configuration.maximumDeparted, maximumUsers)
    return configuration
  }

  var trust: TLSTrust { caCertificate.map { .file($0) } ?? .system }

  /// Checks what can be checked without a network: whether the file of CA certificates contains certificates.
  func check() throws(CallFailure) {
    do {
      try trust.check()
    } catch {
      throw CallFailure(.usage, error.description)
    }
    _ = try ice.read()
  }
}

/// Resolves host names.
enum HostAddresses {
  /// Queries the system's resolver, which may take some seconds if no name server answers.
  ///
  /// - Parameter host: A name or an address.
  /// - Returns: Numeric addresses; empty if the name is unknown.
  static func of(_ host: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var found: [String] = []
    var next = first
    while let entry = next?.pointee {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let result = getnameinfo(
        entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      if result == 0 {
        found.append(
          text.withUnsafeBufferPointer {
            String(decoding: $0.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
          })
      }
      next = entry.ai_next
    }
    return found
  }
}
