import Foundation
import Logging
import SkyRTC

/// Reaches the signalling server, and starts the embedded one where none is named and none is there.
struct ServerFinder {
  let plan: CallPlan
  let console: Console
  let log: Logger

  /// A line to the server, and the server if it is ours.
  struct Connection {
    let client: SkyRTCClient
    let embedded: SkyRTCServer?
  }

  private static let embeddedPort = 3000

  func connect() async throws(CallFailure) -> Connection {
    let client = try plan.reach.client(log: log)
    do {
      try await client.connect()
      return Connection(client: client, embedded: nil)
    } catch {
      guard plan.mayStartServer, case .unreachable = error else {
        throw CallFailure(.serverNotReached, error.description)
      }
    }
    return try await startEmbedded()
  }

  private func startEmbedded() async throws(CallFailure) -> Connection {
    let configuration = SkyRTCServer.Configuration(host: "127.0.0.1", port: Self.embeddedPort)
    // Who comes and goes is told by the call itself.
    var quietly = log
    quietly.logLevel = max(log.logLevel, .warning)
    let server = SkyRTCServer(configuration: configuration, logger: quietly)
    do {
      let address = try await server.start()
      let room = plan.reach.room?.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed).map { "#\($0)" } ?? ""
      console.say(
        "Nothing listened at \(plan.reach.server), so a room server was started here: open \(address.pageURL)\(room)"
      )
    } catch SkyRTCServer.StartError.portTaken {
      // Another program was quicker; it is as good a server as ours.
      let client = try plan.reach.client(log: log)
      return Connection(client: try await connecting(client), embedded: nil)
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
    var here = plan.reach
    here.server = "ws://127.0.0.1:\(Self.embeddedPort)"
    let client = try here.client(log: log)
    return Connection(client: try await connecting(client), embedded: server)
  }

  private func connecting(_ client: SkyRTCClient) async throws(CallFailure) -> SkyRTCClient {
    do {
      try await client.connect()
      return client
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
  }
}
