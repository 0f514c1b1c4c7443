import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// After twenty joins and leaves, a server has only what it had before.
  @Suite("twenty joins and leaves") struct RepeatedJoinTests {
    @Test(
      "twenty publishers of a room of Janus leave no session, and no handle or file of a recorder that stays",
      .enabled(if: JanusProcess.isInstalled || Machine.isCI, Comment(rawValue: JanusProcess.isMissing)))
    func janus() async throws {
      try await Scenario.run("35 Janus 20 joins") { scenario in
        let server = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(
          "recorder", at: server.address, ["--room", "1234", "--record", folder.path])
        #expect(try await server.handleCounts() == [1], "the place of the recorder in the room")
        let before = try #require(ProcessFigures(of: recorder.process.id))
        for round in 0..<4 {
          let load = try await scenario.start(
            "load \(round)",
            [
              "load", "--server", server.address, "--room", "1234", "--publishers", "5", "--ramp", "20/s",
              "--duration", "1m", "--quiet",
            ] + Scenario.smallPattern)
          try await scenario.logged(" user connected ", times: 5 * (round + 1), by: recorder)
          load.process.signal(SIGTERM)
          #expect(try await load.ending(within: .seconds(20)) == .exit(0), "\(load.output)")
          try await scenario.logged(" user left ", times: 5 * (round + 1), by: recorder)
        }
        try await eventually("handles released", within: .seconds(10)) {
          try await server.handleCounts() == [1] ? true : nil
        }
        let after = try await eventually("descriptors of the recorder closed", within: .seconds(15)) {
          ProcessFigures(of: recorder.process.id).flatMap { $0.descriptors <= before.descriptors ? $0 : nil }
        }
        await scenario.note("measured: recorder before: \(before), after: \(after)")
        #expect(recorder.output.ranges(of: " user connected ").count == 20)
        #expect(try await recorder.terminate().ending == .exit(0))
        try await eventually("session ended", within: .seconds(5)) {
          try await server.handleCounts().isEmpty ? true : nil
        }
      }
    }

    @Test("twenty sessions of WHIP and of WHEP leave no participant in the room and no descriptor of the server open")
    func whipAndWHEP() async throws {
      try await Scenario.run("35b WHIP and WHEP 20 sessions") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        func session(_ number: Int) async throws {
          let publisher = try await scenario.bot(
            "publisher \(number)", at: "whip+http://127.0.0.1:\(server.port)/whip/100", Scenario.smallPattern)
          try await scenario.connected(publisher)
          let player = try await scenario.bot(
            "player \(number)", at: "whep+http://127.0.0.1:\(server.port)/whep/100", ["--record", folder.path])
          try await scenario.connected(player)
          // It may have recorded nothing in so short a time, which its exit code says.
          _ = try await player.terminate()
          #expect(try await publisher.terminate().ending == .exit(0))
        }
        func descriptors() throws -> Int { try #require(ProcessFigures(of: server.bot.process.id)).descriptors }
        let before = try descriptors()
        for number in 0..<20 { try await session(number) }
        let after: Int
        do {
          after = try await eventually("descriptors of the server closed", within: .seconds(15)) {
            let now = try descriptors()
            return now <= before ? now : nil
          }
        } catch {
          let folder = "/proc/\(server.bot.process.id)/fd"
          let open = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) ?? "closed"
          }
          await scenario.note("open before: \(before), now: \(open.sorted().joined(separator: ", "))")
          throw error
        }
        await scenario.note("measured: descriptors of the server before: \(before), after: \(after)")
        #expect(server.bot.output.ranges(of: "a client began a session").count == 40)
        let witness = try await scenario.start(
          "witness", ["--server", server.address, "--room", "100", "--record", folder.path])
        try await scenario.logged(" joined others=0", by: witness)
      }
    }
  }
}
