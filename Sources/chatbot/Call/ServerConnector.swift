import Logging
import Signalling
import SkyRTC

/// Connects to the signalling server. Starts the embedded server if the user named none and none listens.
struct ServerConnector {
  let plan: CallPlan
  let console: Console
  let log: Logger

  /// The client, and the embedded server if this process runs it.
  struct Connection {
    let client: any SignallingClient
    let embedded: SkyRTCServer?
  }

  private static let embeddedPort = 3000

  func connect() async throws(CallFailure) -> Connection {
    let client = try plan.connectionSettings.client(plan.directions, log: log)
    do throws(SignallingConnectError) {
      try await client.connect(waiting: plan.connectionSettings.waitForServer) { reason in
        log.notice("waiting for the server", metadata: ["reason": "\(reason)"])
      }
      return Connection(client: client, embedded: nil)
    } catch {
      guard plan.mayStartServer, case .unreachable = error else { throw CallFailure(error) }
    }
    return try await startEmbedded()
  }

  private func startEmbedded() async throws(CallFailure) -> Connection {
    let configuration = SkyRTCServer.Configuration(host: "127.0.0.1", port: Self.embeddedPort)
    // The call itself logs who joins and leaves.
    var quietly = log
    quietly.logLevel = max(log.logLevel, .warning)
    let server = SkyRTCServer(configuration: configuration, logger: quietly)
    do {
      let address = try await server.start()
      let room = plan.connectionSettings.room.map { "#" + Self.percentEncoded($0) } ?? ""
      console.say(
        "Nothing listened at \(plan.connectionSettings.server), so a room server was started here: open \(address.pageURL)\(room)"
      )
    } catch SkyRTCServer.StartError.portTaken {
      // Another program started a server first; use that one.
      let client = try plan.connectionSettings.client(plan.directions, log: log)
      return Connection(client: try await connecting(client), embedded: nil)
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
    var here = plan.connectionSettings
    here.server = "ws://127.0.0.1:\(Self.embeddedPort)"
    let client = try here.client(plan.directions, log: log)
    return Connection(client: try await connecting(client), embedded: server)
  }

  /// Encodes a room's name as a URL fragment (RFC 3986, 3.5).
  private static func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { encoded, byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "/"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
  }

  private func connecting(_ client: any SignallingClient) async throws(CallFailure) -> any SignallingClient {
    do throws(SignallingConnectError) {
      try await client.connect()
      return client
    } catch {
      throw CallFailure(error)
    }
  }
}
