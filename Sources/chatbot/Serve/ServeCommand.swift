import ArgumentParser
import BotPeer
import Call
import Console
import Logging
import MetricsEndpoint
import RoomServer
import SkyRTC
import WHIP

/// Runs the room server, with its call page, and with WHIP and WHEP.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run a SkyRTC room server with its call page, WHIP and WHEP, on one port.")

  @OptionGroup var options: ServeOptions

  func run() async throws {
    FileDescriptorLimit.allowMany()
    let console = try options.log.console()
    defer { console.close() }
    let interruption = Interruption()
    let settings: RoomServer.Settings
    do {
      settings = try options.settings()
    } catch {
      console.report(error.sentence)
      throw error.code.exitCode
    }
    let server = RoomServer(
      settings, on: MediaThread.loop, log: console.logger("server", level: options.log.level))
    do {
      let addresses = try await server.start()
      console.say("The room server listens at \(addresses.webSocketURL). Open \(addresses.pageURL)#100 in a browser.")
      if let whip = addresses.whipURL, let whep = addresses.whepURL {
        console.say("WHIP publishes at \(whip)100, and WHEP plays at \(whep)100.")
      }
    } catch {
      console.report(error.description)
      switch error {
      case .rooms(.portTaken), .rooms(.cannotListen), .rooms(.tlsNotSetUp), .rooms(.alreadyStarted), .stopped:
        throw ExitStatus.serverNotReached.exitCode
      case .rooms(.unusableCertificate), .rooms(.unusableKey), .rooms(.wrongPort), .gateway:
        throw ExitStatus.usage.exitCode
      }
    }
    let sampling = options.metrics.areServed ? try await serveMetrics(of: server, console) : nil
    interruption.beginOrderly()
    await interruption.first()
    sampling?.cancel()
    await server.stop()
  }

  /// Serves the metrics of the server.
  ///
  /// - Returns: the task that samples them.
  private func serveMetrics(of server: RoomServer, _ console: Console) async throws -> Task<Void, Never> {
    let metrics = RoomServerMetrics(hasGateway: options.whip)
    do throws(CallFailure) {
      try await options.metrics.serve({ metrics.text }, console: console)
    } catch {
      console.report(error.sentence)
      await server.stop()
      throw error.code.exitCode
    }
    return Task { await metrics.run(server) }
  }
}

extension ServeOptions {
  /// Reads the files of credentials and tokens.
  func settings() throws(CallFailure) -> RoomServer.Settings {
    var rooms = SkyRTCServer.Configuration(host: host, port: Int(port))
    rooms.limits.maximumUsersPerRoom = usersPerRoom
    rooms.limits.maximumConnections = max(rooms.limits.maximumConnections, 2 * usersPerRoom)
    rooms.limits.maximumConnectionsPerAddress = connectionsPerAddress
    rooms.allowedOrigins = allowOrigin
    rooms.serverNames = serverName
    rooms.tls = tls.map { SkyRTCServer.TLS(certificateFile: $0.certificate, keyFile: $0.key) }
    var settings = RoomServer.Settings(rooms: rooms)
    let ice = try ice.servers()
    settings.rooms.iceServers = ice.servers(for: "room")
    settings.iceServerRenewal = ice.renewalInterval.map { interval in
      RoomServer.ICEServerRenewal(interval: interval) { ice.servers(for: $0) }
    }
    settings.gateway = try gateway()
    return settings
  }

  private func gateway() throws(CallFailure) -> RoomServer.Gateway? {
    guard whip else { return nil }
    var gateway = RoomServer.Gateway()
    gateway.usesTCP = tcp
    gateway.tcpPort = tcpPort
    do throws(BearerToken.ParseError) {
      if let whipTokenFile { gateway.tokens = try TokenList.tokens(in: whipTokenFile) }
    } catch {
      throw CallFailure(.usage, error.description)
    }
    return gateway
  }
}
