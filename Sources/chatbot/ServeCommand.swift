import ArgumentParser
import Logging
import SkyRTC

/// Runs only the room server.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run a SkyRTC room server with its call page, on one port.")

  @OptionGroup var options: ServeOptions

  func run() async throws {
    let console = Console(isQuiet: options.log.quiet)
    let log = console.logger("server", level: options.log.level)
    let interruption = Interruption()
    var configuration = SkyRTCServer.Configuration(host: options.host, port: Int(options.port))
    configuration.limits.maximumUsersPerRoom = options.usersPerRoom
    configuration.limits.maximumConnections = max(configuration.limits.maximumConnections, 2 * options.usersPerRoom)
    configuration.limits.maximumConnectionsPerAddress = options.connectionsPerAddress
    configuration.iceServers = options.iceServer
    configuration.allowedOrigins = options.allowOrigin
    configuration.tls = options.tls.map { SkyRTCServer.TLS(certificateFile: $0.certificate, keyFile: $0.key) }
    let server = SkyRTCServer(configuration: configuration, logger: log)
    do {
      let address = try await server.start()
      console.say("The room server listens at \(address.webSocketURL). Open \(address.pageURL)#100 in a browser.")
    } catch {
      console.report(error.description)
      switch error {
      case .unusableCertificate, .unusableKey, .wrongPort: throw ExitStatus.usage.exitCode
      case .portTaken, .cannotListen, .alreadyStarted: throw ExitStatus.serverNotReached.exitCode
      }
    }
    interruption.beginOrderly()
    await interruption.first()
    await server.shutdown()
  }
}
