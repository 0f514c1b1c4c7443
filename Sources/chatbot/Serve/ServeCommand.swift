import ArgumentParser
import BotPeer
import HTTPTransport
import Logging
import Signalling
import SkyRTC
import WHIP

/// Runs the room server, with its call page, and with WHIP and WHEP.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run a SkyRTC room server with its call page, WHIP and WHEP, on one port.")

  @OptionGroup var options: ServeOptions

  func run() async throws {
    FileDescriptorLimit.allowMany()
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("server", level: options.log.level)
    let interruption = Interruption()
    var configuration = SkyRTCServer.Configuration(host: options.host, port: Int(options.port))
    configuration.limits.maximumUsersPerRoom = options.usersPerRoom
    configuration.limits.maximumConnections = max(configuration.limits.maximumConnections, 2 * options.usersPerRoom)
    configuration.limits.maximumConnectionsPerAddress = options.connectionsPerAddress
    configuration.allowedOrigins = options.allowOrigin
    configuration.serverNames = options.serverName
    configuration.tls = options.tls.map { SkyRTCServer.TLS(certificateFile: $0.certificate, keyFile: $0.key) }
    let ice: ICEServerList
    do {
      ice = try options.ice.settings.read()
    } catch {
      console.report(error.sentence)
      throw ExitStatus.usage.exitCode
    }
    let gateway = try await gateway(ice, console: console, log: log)
    let server = SkyRTCServer(
      configuration: configuration, responder: gateway, iceServers: { ice.servers(for: "room") }, logger: log)
    do {
      let address = try await server.start()
      await gateway?.open(access(to: address))
      console.say("The room server listens at \(address.webSocketURL). Open \(address.pageURL)#100 in a browser.")
      if gateway != nil {
        console.say("WHIP publishes at \(address.pageURL)whip/100, and WHEP plays at \(address.pageURL)whep/100.")
      }
    } catch {
      await gateway?.close()
      console.report(error.description)
      switch error {
      case .unusableCertificate, .unusableKey, .wrongPort: throw ExitStatus.usage.exitCode
      case .portTaken, .cannotListen, .alreadyStarted: throw ExitStatus.serverNotReached.exitCode
      }
    }
    interruption.beginOrderly()
    await interruption.first()
    await gateway?.close()
    await server.shutdown()
  }

  /// Returns the gateway for WHIP and WHEP, or nil without them.
  private func gateway(_ ice: ICEServerList, console: Console, log: Logger) async throws -> WHIPGateway? {
    guard options.whip else { return nil }
    var whip = WHIPServer.Options()
    whip.makeICEServers = { ice.servers(for: "whip") }
    if !options.allowOrigin.contains("*") { whip.allowedOrigins = Set(options.allowOrigin.map { $0.lowercased() }) }
    do {
      if let file = options.whipTokenFile { whip.tokens = try TokenList(file: file) }
    } catch {
      console.report(error.description)
      throw ExitStatus.usage.exitCode
    }
    var media = Peer.Configuration()
    media.includesLoopback = true
    // Clients of a public server have no candidates in its network.
    media.allowsLocalCandidates = options.host == "localhost" || Peer.Configuration.isLocalAddress(options.host)
    media.usesTCP = options.tcp
    media.tcpPort = options.tcpPort
    media.use(ice, for: "chatbot")
    // WHIP and WHEP carry no offer of the server.
    media.restartsICE = false
    media.initialReorderingDelay = WHIPGateway.initialReorderingDelay
    do {
      return try await WHIPGateway.start(options: whip, configuration: media, log: log)
    } catch {
      console.report("\(error)")
      throw ExitStatus.usage.exitCode
    }
  }

  /// How the gateway joins rooms: over this machine's loopback, where the certificate need not name it.
  private func access(to address: SkyRTCServer.Address) -> WHIPGateway.RoomAccess {
    let host =
      switch options.host {
      case "0.0.0.0": "127.0.0.1"
      case "::": "[::1]"
      case let host where host.contains(":"): "[\(host)]"
      default: options.host
      }
    var settings = ConnectionSettings(server: "\(address.isSecure ? "wss" : "ws")://\(host):\(address.port)")
    settings.ice = options.ice.settings
    settings.maximumUsers = options.usersPerRoom
    settings.allowsLocalCandidates = true
    return WHIPGateway.RoomAccess(
      connectionSettings: settings, trust: address.isSecure ? .noVerification : .system)
  }
}
