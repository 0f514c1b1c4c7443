import BotPeer
import HTTPTransport
import Logging
import NIOCore
import Signalling
import SkyRTC

/// How publishers and listeners of the gateway join the rooms of the server: over the address at which it listens.
struct RoomAccess: Sendable {
  /// How long the first packets of a track wait for earlier ones: media is passed on at once.
  static let initialReorderingDelay: Duration = .milliseconds(40)

  /// The address of the rooms, for example `ws://127.0.0.1:3000`.
  let url: String
  /// Publishers of all rooms.
  let publishers = RoomPublisherIDs()
  /// The event loop of the peers.
  let loop: any EventLoop
  private let host: String
  private let isSecure: Bool
  private let settings: RoomServer.Settings

  /// - Parameter port: the port actually bound.
  init(port: Int, settings: RoomServer.Settings, on loop: any EventLoop) {
    // A client cannot connect to an unspecified address.
    host =
      switch settings.rooms.host {
      case "0.0.0.0": "127.0.0.1"
      case "::": "::1"
      case let host: host
      }
    let authority = host.contains(":") ? "[\(host)]" : host
    isSecure = settings.rooms.tls != nil
    url = "\(isSecure ? "wss" : "ws")://\(authority):\(port)"
    self.settings = settings
    self.loop = loop
  }

  /// Returns a client for a room that is not connected yet.
  ///
  /// - Parameter name: the name that the others see; nil for none.
  func client(room: String, name: String?, log: Logger) throws -> any SignallingClient {
    var options = SkyRTCClient.Options()
    options.name = name
    // The connection stays on this machine, and the certificate need not name its address.
    options.trust = isSecure ? .noVerification : .system
    options.maximumParticipants = settings.rooms.limits.maximumUsersPerRoom
    return try SkyRTCClient(url: url, room: room, options: options, logger: log)
  }

  /// The configuration of a peer in a room, without its media.
  func peerConfiguration() -> Peer.Configuration {
    var configuration = settings.forwardingConfiguration
    configuration.includesLoopback = ["localhost", "127.0.0.1", "::1"].contains(host)
    configuration.allowsLocalCandidates = true
    configuration.maximumDeparted = max(configuration.maximumDeparted, settings.rooms.limits.maximumUsersPerRoom)
    return configuration
  }
}
