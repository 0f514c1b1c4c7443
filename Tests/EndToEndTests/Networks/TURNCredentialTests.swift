import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Credentials that are valid for a limited time, made from the secret of a real TURN server.
  @Suite("TURN credentials", .enabled(if: Machine.hasNetworkLab && Machine.programHasTURN)) struct TURNCredentialTests {
    private static let secret = "a-shared-secret"

    /// Starts a TURN server, and writes the file with its secret.
    private func server(in lab: NetworkLab) async throws -> (TURNServer, options: [String]) {
      var options = TURNServer.Options()
      options.sharedSecret = Self.secret
      let server = try await TURNServer.start(on: lab.internetHost("turn"), of: lab, options)
      let file = lab.folder.appendingPathComponent("turn-secret")
      try Data("\(Self.secret)\n".utf8).write(to: file)
      return (server, ["--ice-server", "turn:\(server.host.urlHost)", "--turn-secret-file", file.path])
    }

    @Test("bots without ICE servers of their own are relayed by the one that the room server names")
    func assigned() async throws {
      try await NetworkLab.run("an assigned TURN server") { lab in
        let (server, options) = try await server(in: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab, options)
        let call = NATCall(name: "assigned", server: server, rooms: rooms, servers: .named)
        let outcome = try await call.run(
          from: lab.host("sender", behind: .symmetric, families: .ipv4),
          to: lab.host("receiver", behind: .symmetric, families: .ipv4), in: lab)
        #expect(outcome.candidateTypes == "relay, relay")
        #expect(outcome.frames > 0 && outcome.frames == outcome.expectedFrames, "every frame is recorded")
        let granted = server.output.ranges(of: #/ new, realm=<lab\.example>, username=<\d+:room>/#)
        #expect(granted.count >= 2, "the room server made the credentials")
      }
    }
  }
}
