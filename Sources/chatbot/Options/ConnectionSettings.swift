import BotPeer
import Logging
import SkyRTC

/// Where a room is, and how we are to be reached for media.
struct ConnectionSettings: Sendable, Hashable {
  /// The SkyRTC server, `ws://` or `wss://`.
  var server: String
  /// Nil for the server's default room.
  var room: String?
  /// A PEM file with the authorities that a `wss` server is trusted by; nil for the system's.
  var authorities: String?
  /// STUN servers to learn our public address from.
  var iceServers: [String] = []
  /// 0 for any free one.
  var udpPort: UInt16 = 0
  /// How many threads do the work of media; each has UDP sockets of its own. Nil for what is usual for the command.
  var mediaThreads: Int?
  /// How many others of the room are noted.
  var maximumUsers = SkyRTCClient.Options().maximumParticipants
  /// Nil for every address of the machine.
  var bindAddress: String?
  /// Whether others of the room may make us check addresses of this machine and of networks without public addresses. Nil for
  /// what the server's address says: a room that is on such a network has others there.
  var allowsLocalCandidates: Bool?

  /// Where a server is expected when none is named.
  static let defaultServer = "ws://localhost:3000"
  /// What the server calls the room that is not named.
  private static let defaultRoom = "__default"
  /// Hosts that are this machine, whatever its names are.
  private static let loopbackHosts: Set = ["localhost", "127.0.0.1", "::1"]

  /// The room's name for people.
  var roomName: String { room ?? Self.defaultRoom }

  /// Whether the server is on this machine, so that others of the room may be, too.
  var isServerHere: Bool {
    guard let url = try? WebSocketURL(server) else { return false }
    return Self.loopbackHosts.contains(url.host)
  }

  /// Whether the server is on this machine or in a network without public addresses.
  private var isServerLocal: Bool {
    guard let url = try? WebSocketURL(server) else { return false }
    return isServerHere || HostAddresses.of(url.host).contains(where: Peer.Configuration.isLocalAddress)
  }

  /// A peer that can be reached like this.
  var peerConfiguration: Peer.Configuration {
    var configuration = Peer.Configuration()
    configuration.bindAddresses = bindAddress.map { [$0] } ?? []
    configuration.includesLoopback = isServerHere
    configuration.allowsLocalCandidates = allowsLocalCandidates ?? isServerLocal
    configuration.udpPort = udpPort
    configuration.iceServers = iceServers
    return configuration
  }

  private var trust: WebSocketTrust { authorities.map { .file($0) } ?? .system }

  /// Finds out what can be wrong without a network: whether there are certificates in the file that is to be trusted.
  func check() throws(CallFailure) {
    do {
      try trust.check()
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }

  /// A line to the server that is not connected yet.
  func client(log: Logger) throws(CallFailure) -> SkyRTCClient {
    var options = SkyRTCClient.Options()
    options.trust = trust
    options.maximumParticipants = maximumUsers
    do {
      return try SkyRTCClient(url: server, room: room ?? "", options: options, logger: log)
    } catch {
      throw CallFailure(.usage, error.description)
    }
  }
}
