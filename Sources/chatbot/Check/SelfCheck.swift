import LiveSource
import Logging
import Media
import SkyRTC

/// Runs a server and a player beside a check in one process, to find out whether this machine can keep up.
struct SelfCheck {
  let console: Console
  let log: Logger

  static let room = "self"

  /// The server and the player that run beside the check.
  struct Running {
    let server: String
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
    let server: String
    do {
      server = try await embedded.start().webSocketURL
    } catch {
      throw CallFailure(.serverNotReached, error.description)
    }
    var connectionSettings = ConnectionSettings(server: server)
    connectionSettings.room = Self.room
    connectionSettings.bindAddress = "127.0.0.1"
    var plan = CallPlan(connectionSettings)
    plan.isCheck = true
    plan.camera = LiveCamera.Options(input: .pattern, owner: ParticipantID("camera"))
    let call = Call(plan: plan, console: Console(isQuiet: true), log: log)
    let player = Task {
      do {
        try await call.run(interruption: .never)
      } catch {
        let reason = (error as? CallFailure)?.sentence ?? "\(error)"
        log.error("the player ended", metadata: ["reason": "\(reason)"])
      }
    }
    return Running(server: server, embedded: embedded, player: player)
  }
}
