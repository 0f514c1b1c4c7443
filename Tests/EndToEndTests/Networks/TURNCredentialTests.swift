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

    @Test(
      "bots without ICE servers of their own are relayed by the one that the room server names",
      .enabled(if: Machine.runsWholeNetworkMatrix))
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

    @Test(
      "a relayed call that is longer than its credentials are valid moves to new ones, and every frame is recorded",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func renewed() async throws {
      try await NetworkLab.run("renewed TURN credentials", limit: .seconds(120)) { lab in
        let (server, options) = try await server(in: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        var call = NATCall(name: "renewed", server: server, rooms: rooms, servers: .named)
        call.options = options + ["--turn-credential-lifetime", "16s"]
        let outcome = try await call.run(
          from: lab.host("sender", behind: .symmetric, families: .ipv4),
          to: lab.host("receiver", behind: .symmetric, families: .ipv4), in: lab
        ) { try await sleepOnEventLoop(for: .seconds(40)) }
        let users = Set(server.output.matches(of: #/ new, realm=<lab\.example>, username=<(\d+:chatbot)>/#).map(\.1))
        let ended = server.output.ranges(of: ", lifetime=0").count
        await lab.scenario.note(
          "\(outcome.frames) of \(outcome.expectedFrames) frames, \(outcome.lost) packets lost, \(outcome.gaps) gaps; "
            + "\(users.count) user names, \(ended) allocations given up")
        #expect(outcome.length > 38)
        #expect(outcome.frames == outcome.expectedFrames && outcome.gaps == 0, "every frame is recorded")
        #expect(users.count >= 4, "new credentials were made every 12 s")
        #expect(ended >= 4, "former allocations are given up")
        #expect(!outcome.recorder.output.contains(" path=direct"))
        #expect(outcome.recorder.output.contains("TURN server relays with new credentials"))
        #expect(!outcome.recorder.output.contains("user disconnected"), "the call was never interrupted")
      }
    }

    @Test(
      "a check without a relay names what the TURN server said, or that no server was named",
      .enabled(if: Machine.runsWholeNetworkMatrix))
    func refused() async throws {
      try await NetworkLab.run("a check that is not relayed", limit: .seconds(90)) { lab in
        let (server, options) = try await server(in: lab)
        let rooms = try await LabRooms.start(on: lab.internetHost("rooms"), of: lab)
        let host = try await lab.host("home", behind: .symmetric, families: .ipv4)
        let relayed = rooms.options + ["--room", "refused", "--ice-transport-policy", "relay"]
        let player = try await lab.bot(
          "player", on: lab.host("sender", behind: .symmetric, families: .ipv4),
          relayed + options + ["--play", BuiltProgram.sample.path])
        try await eventually("joined player", within: .seconds(15)) { player.output.contains(" joined ") ? true : nil }
        let cases: [(String, [String], String)] = [
          (
            "wrong", ["--ice-server", "turn:bot:wrong@\(server.host.urlHost)"],
            "The TURN server refused the user name or the password (error 401, realm \"lab.example\"): check both"
          ), ("unnamed", [], "No TURN server was named, neither by us nor by the signalling"),
        ]
        for (name, servers, sentence) in cases {
          let check = try await lab.bot(name, on: host, ["check"] + relayed + servers + ["--wait", "5s"])
          #expect(try await check.ending(within: .seconds(30)) != .exit(0))
          // The report is wrapped.
          let words = check.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
          #expect(words.contains("we have no address for the participant; "), "\(words)")
          #expect(words.contains(sentence), "\(words)")
        }
      }
    }
  }
}
