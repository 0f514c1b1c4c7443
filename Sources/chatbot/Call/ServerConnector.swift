import Call
import Console
import Logging
import Signalling
import SignallingAdapters
import SkyRTC

/// Joins the room. Starts the embedded server if the user named none and none listens.
struct ServerConnector {
  let settings: CallSettings
  let console: Console
  let log: Logger

  private static let embeddedPort = 3000

  /// Joins the room with the call, and closes the call if that fails.
  ///
  /// - Returns: The embedded server if this process runs it.
  func join(_ call: RoomCall) async throws(CallFailure) -> SkyRTCServer? {
    // The resolver and the server may take seconds; until then nothing would be shown.
    let announcement = console.announce("Connecting to \(settings.server.name) …")
    defer { announcement.cancel() }
    do throws(CallFailure) {
      do throws(SignallingConnectError) {
        try await call.join(waiting: settings.server.waitForServer)
        return nil
      } catch {
        guard settings.mayStartServer, case .unreachable = error else {
          throw CallFailure(error, hint: settings.server.startHint)
        }
      }
      return try await startEmbedded(for: call)
    } catch {
      await call.close()
      throw error
    }
  }

  private func startEmbedded(for call: RoomCall) async throws(CallFailure) -> SkyRTCServer? {
    let configuration = SkyRTCServer.Configuration(host: "127.0.0.1", port: Self.embeddedPort)
    // The call itself logs who joins and leaves.
    var quietly = log
    quietly.logLevel = max(log.logLevel, .warning)
    let server = SkyRTCServer(configuration: configuration, logger: quietly)
    do {
      let address = try await server.start()
      let page = settings.server.signalling.room.map { address.pageURL(room: $0) } ?? address.pageURL
      console.say("Nothing listened at \(settings.server.name), so a room server was started here: open \(page)")
    } catch SkyRTCServer.StartError.portTaken {
      // Another program started a server first; use that one.
      try await join(call, at: settings.server)
      return nil
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
    var here = settings.server
    here.signalling.address = SignallingAddress("ws://127.0.0.1:\(Self.embeddedPort)")
    try await join(call, at: here)
    return server
  }

  private func join(_ call: RoomCall, at server: ServerSettings) async throws(CallFailure) {
    let client = try server.client(log: log)
    do throws(SignallingConnectError) {
      try await call.join(with: client)
    } catch {
      throw CallFailure(error)
    }
  }
}
