import BotPeer
import Call
import LiveSource
import Logging
import Media
import SignallingAdapters
import SkyRTC

/// Runs a server and a player beside a check in one process, to find out whether this machine can keep up.
struct SelfCheck {
  let log: Logger

  static let room = "self"

  /// The server and the player that run beside the check.
  struct Running {
    let server: SignallingAddress
    fileprivate let embedded: SkyRTCServer
    fileprivate let player: Task<Void, Never>

    func end() async {
      player.cancel()
      await player.value
      await embedded.shutdown()
    }
  }

  /// Starts both on the loopback interface, on any free port.
  func start() async throws(CallFailure) -> Running {
    let embedded = SkyRTCServer(configuration: .init(host: "127.0.0.1", port: 0), logger: log)
    let address: String
    do {
      address = try await embedded.start().webSocketURL
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
    var settings = CallSettings(server: try ServerSettings(address: address))
    settings.server.signalling.room = Self.room
    settings.camera = LiveCamera.Options(input: .pattern, owner: ParticipantID("camera"))
    settings.call.peer.bindAddresses = ["127.0.0.1"]
    settings.call.peer.includesLoopback = true
    let player = Task { [log, settings] in
      do {
        let source = try settings.camera?.open(log: log, isAnnounced: true)
        let call = try await RoomCall(
          settings.call, client: try settings.server.client(log: log), source: source, on: MediaThread.loop, log: log)
        do {
          try await call.join()
        } catch {
          await call.close()
          throw error
        }
        _ = await call.run()
      } catch {
        log.error("the player ended", metadata: ["reason": "\(error)"])
      }
    }
    return Running(server: settings.server.signalling.address, embedded: embedded, player: player)
  }
}
