import RoomServer
import Signalling
import SkyRTC
import Testing

@Suite("The room server as a library")
struct RoomServerTests {
  /// Settings of a server at any free port of this machine.
  private static let settings = RoomServer.Settings(rooms: SkyRTCServer.Configuration(port: 0))

  @Test(
    "a started server names the port that it bound and the addresses for clients, and admits to its rooms until it stops"
  )
  func addresses() async throws {
    let server = RoomServer(Self.settings)
    let addresses = try await server.start()
    #expect(addresses.port > 0)
    #expect(addresses.webSocketURL == "ws://127.0.0.1:\(addresses.port)")
    #expect(addresses.pageURL == "http://127.0.0.1:\(addresses.port)/")
    #expect(addresses.whipURL == "http://127.0.0.1:\(addresses.port)/whip/")
    #expect(addresses.whepURL == "http://127.0.0.1:\(addresses.port)/whep/")
    let client = try SkyRTCClient(url: addresses.webSocketURL, room: "100")
    try await client.connect()
    await client.leave()
    await server.stop()
    let late = try SkyRTCClient(url: addresses.webSocketURL, room: "100")
    await #expect(throws: SignallingConnectError.self) { try await late.connect() }
  }

  @Test("a server without the gateway has no addresses of WHIP and WHEP")
  func withoutGateway() async throws {
    var settings = Self.settings
    settings.gateway = nil
    let server = RoomServer(settings)
    let addresses = try await server.start()
    #expect(addresses.whipURL == nil && addresses.whepURL == nil)
    await server.stop()
  }

  @Test("a server starts once, and one that has stopped does not start again")
  func startsOnce() async throws {
    let server = RoomServer(Self.settings)
    try await server.start()
    await #expect(throws: RoomServer.StartError.rooms(.alreadyStarted)) { try await server.start() }
    await server.stop()
    await server.stop()
    await #expect(throws: RoomServer.StartError.rooms(.alreadyStarted)) { try await server.start() }
  }

  @Test("after an error a server can be started again, as soon as the port is free")
  func portTaken() async throws {
    let first = RoomServer(Self.settings)
    let port = try await first.start().port
    let second = RoomServer(RoomServer.Settings(rooms: SkyRTCServer.Configuration(port: port)))
    await #expect(throws: RoomServer.StartError.rooms(.portTaken(host: "127.0.0.1", port: port))) {
      try await second.start()
    }
    await first.stop()
    #expect(try await second.start().port == port)
    await second.stop()
  }

  @Test("whoever runs a server that is being started gets its error, and a stop waits until the port is free")
  func runsWhileStarting() async throws {
    let first = RoomServer(Self.settings)
    let port = try await first.start().port
    let settings = RoomServer.Settings(rooms: SkyRTCServer.Configuration(port: port))
    let refused = RoomServer(settings)
    let one = Task { try await refused.run() }
    let other = Task { try await refused.run() }
    await #expect(throws: RoomServer.StartError.rooms(.portTaken(host: "127.0.0.1", port: port))) {
      try await one.value
    }
    await #expect(throws: RoomServer.StartError.rooms(.portTaken(host: "127.0.0.1", port: port))) {
      try await other.value
    }
    await first.stop()
    let stopped = RoomServer(settings)
    async let end: Void = stopped.run()
    await stopped.stop()
    try await end
    let next = RoomServer(settings)
    #expect(try await next.start().port == port)
    await next.stop()
  }

  @Test("run returns when its task is cancelled or the server is stopped, and nobody is served then")
  func runs() async throws {
    let cancelled = RoomServer(Self.settings)
    let port = try await cancelled.start().port
    let task = Task { try await cancelled.run() }
    task.cancel()
    try await task.value
    let stopped = RoomServer(RoomServer.Settings(rooms: SkyRTCServer.Configuration(port: port)))
    async let end: Void = stopped.run()
    await stopped.stop()
    try await end
    let late = try SkyRTCClient(url: "ws://127.0.0.1:\(port)", room: "100")
    await #expect(throws: SignallingConnectError.self) { try await late.connect() }
  }
}
