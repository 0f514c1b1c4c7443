import BotPeer
public import Signalling
public import SkyRTC
public import WHIP

extension RoomServer {
  /// Where to listen, what clients may use, and the gateway of WHIP and WHEP.
  public struct Settings: Sendable {
    /// Where to listen, with or without TLS, and the limits of the rooms.
    public var rooms: SkyRTCServer.Configuration
    /// ICE servers with credentials that are valid for a limited time, in place of those of ``rooms``; nil if those do not
    /// expire.
    public var iceServerRenewal: ICEServerRenewal?
    /// WHIP and WHEP; nil without them.
    public var gateway: Gateway? = Gateway()

    public init(rooms: SkyRTCServer.Configuration = SkyRTCServer.Configuration()) {
      self.rooms = rooms
    }
  }

  /// The settings of WHIP and WHEP.
  public struct Gateway: Sendable, Hashable {
    /// The tokens of which a request must have one; without any, no request needs one.
    public var tokens: [BearerToken] = []
    /// Whether media of clients may also flow over TCP, where UDP does not reach them (RFC 6544).
    public var usesTCP = false
    /// The TCP port on every address for ``usesTCP``; 0 for any free one.
    public var tcpPort: UInt16 = 0

    public init() {}
  }

  /// How credentials that are valid for a limited time are made.
  public struct ICEServerRenewal: Sendable {
    /// From one renewal for the server's own connections to the next; it must be shorter than the credentials are valid.
    public var interval: Duration
    /// Returns the servers with new credentials. It is called on several threads, and for each page that is loaded and each
    /// client that joins: it must not block.
    ///
    /// - Parameter user: who will use them, for the log of a TURN server: `room` for the page and clients that join a room,
    ///   `whip` for clients of WHIP and WHEP, `chatbot` for the server itself.
    public var servers: @Sendable (_ user: String) -> [ICEServer]

    public init(interval: Duration, servers: @escaping @Sendable (_ user: String) -> [ICEServer]) {
      self.interval = interval
      self.servers = servers
    }
  }
}

extension RoomServer.Settings {
  /// The name under which the server itself uses TURN servers.
  private static let ownName = "chatbot"

  /// The ICE servers for somebody, with credentials that are valid from now.
  func iceServers(for user: String) -> [ICEServer] { iceServerRenewal?.servers(user) ?? rooms.iceServers }

  /// The configuration of every peer that forwards frames of others.
  var forwardingConfiguration: Peer.Configuration {
    var configuration = Peer.Configuration()
    configuration.keyframeResponse = .requestFromSource
    configuration.isForwarding = true
    configuration.initialReorderingDelay = RoomAccess.initialReorderingDelay
    configuration.iceServers = iceServers(for: Self.ownName)
    if let renewal = iceServerRenewal {
      configuration.iceServerRenewal = .init(interval: renewal.interval) { renewal.servers(Self.ownName) }
    }
    return configuration
  }

  /// The configuration of the peer of HTTP clients.
  func gatewayConfiguration(_ gateway: RoomServer.Gateway) -> Peer.Configuration {
    var configuration = forwardingConfiguration
    configuration.includesLoopback = true
    // Clients of a public server have no candidates in its network.
    configuration.allowsLocalCandidates =
      rooms.host == "localhost" || Peer.Configuration.isLocalAddress(rooms.host)
    configuration.usesTCP = gateway.usesTCP
    configuration.tcpPort = gateway.tcpPort
    // WHIP and WHEP carry no offer of the server.
    configuration.restartsICE = false
    return configuration
  }

  /// What the server requires of HTTP clients.
  func whipOptions(_ gateway: RoomServer.Gateway) -> WHIPServer.Options {
    var options = WHIPServer.Options()
    options.tokens = TokenList(gateway.tokens)
    options.makeICEServers = { iceServers(for: "whip") }
    if !rooms.allowedOrigins.contains("*") {
      options.allowedOrigins = Set(rooms.allowedOrigins.map { $0.lowercased() })
    }
    return options
  }
}
