import Signalling
import Testing

@testable import BotPeer

@Suite("STUN and TURN servers that another server names")
struct ICEServerScopeTests {
  private func server(_ url: String, _ scope: NetworkScope) -> ICEServer {
    var server = ICEServer(url: url, username: "u", credential: "c")
    server.narrowestScope = scope
    return server
  }

  @Test(
    "one in a narrower network than the server that names it is not used, by address or by name",
    arguments: [
      ("stun:127.0.0.1", NetworkScope.everywhere), ("turn:10.1.2.3", .everywhere), ("turns:192.168.1.1", .everywhere),
      ("turn:[::1]", .local), ("stun:localhost", .everywhere), ("turn:localhost?transport=tcp", .local),
    ])
  func refused(url: String, scope: NetworkScope) async {
    await #expect(throws: Peer.StartError.self) { try await ICEServers.resolve([server(url, scope)]) }
  }

  @Test(
    "one in the same network or a wider one is used",
    arguments: [("stun:127.0.0.1", NetworkScope.loopback), ("stun:10.1.2.3", .local), ("stun:192.0.2.1", .local)])
  func used(url: String, scope: NetworkScope) async throws {
    #expect(try await ICEServers.resolve([server(url, scope)]).stun.count == 1)
  }
}
