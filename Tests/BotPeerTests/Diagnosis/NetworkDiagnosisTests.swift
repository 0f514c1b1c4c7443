import BotPeer
import NIOCore
import NIOPosix
import TestSupport
import Testing

@Suite("The diagnosis of a network")
struct NetworkDiagnosisTests {
  @Test("servers that do not answer are reported within the time, each with a sentence")
  func nobody() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    // Nobody listens there.
    let port = try ServerPort.unused()
    var configuration = NetworkDiagnosis.Configuration()
    configuration.timeout = .seconds(1)
    configuration.includesLoopback = true
    configuration.iceServers = [
      ICEServer(url: "stun:127.0.0.1:\(port)"),
      ICEServer(url: "turn:127.0.0.1:\(port)", username: "user", credential: "a-secret"),
      ICEServer(url: "turns:127.0.0.1:\(port)", username: "user", credential: "a-secret"),
    ]
    configuration.roomServer = RoomServerAddress(
      host: "127.0.0.1", port: port, isSecure: true, authority: "127.0.0.1:\(port)", target: "/", isWebSocket: true,
      shown: "wss://127.0.0.1:\(port)")
    let begin = ContinuousClock.now
    let found = try await NetworkDiagnosis.run(configuration, on: group.next())
    #expect(ContinuousClock.now - begin < .seconds(20), "the time is bounded")
    #expect(found.interfaces.contains { $0.address == "127.0.0.1" && $0.isUsed })
    #expect(found.stun.map(\.isReachable) == [false])
    #expect(found.turn.map(\.transport) == ["udp", "tcp", "tls"])
    #expect(found.turn.map(\.isUsedByCalls) == [true, false, true])
    #expect(found.turn.allSatisfy { !$0.isAllocated && $0.failure != nil })
    #expect(found.turn[1].failure == "The TURN server does not accept a connection: Connection refused.")
    #expect(found.roomServer?.failure == "The room server does not accept a connection: Connection refused.")
    #expect(!"\(found)".contains("a-secret"))
  }

  @Test("an invalid URL is an error without its password")
  func invalid() async throws {
    var configuration = NetworkDiagnosis.Configuration()
    configuration.iceServers = [ICEServer(url: "turn:user:a-secret@host:0")]
    do {
      _ = try await NetworkDiagnosis.run(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
      Issue.record("The port 0 was accepted.")
    } catch {
      #expect(!"\(error)".contains("a-secret"))
      #expect("\(error)".contains("port"))
    }
  }
}
