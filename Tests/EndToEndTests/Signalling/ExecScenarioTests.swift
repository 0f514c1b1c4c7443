import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Calls through the adapters of `Examples/ExecSignalling`, which are programs of their own.
  @Suite("calls through a program that connects another system") struct ExecScenarioTests {
    @Test("a check finds a call good, its camera is recorded, and a mirror returns media")
    func call() async throws {
      try await Scenario.run("48 exec") { scenario in
        let hub = try await ProgramHub(in: scenario)
        let folder = await scenario.recordings()
        let bob = try await scenario.bot(
          "bob", at: hub.address,
          ["--room", "call", "--user", "bob", "--record", folder.path] + Scenario.smallPattern)
        let carol = try await scenario.check(
          "carol", at: hub.address,
          ["--room", "call", "--user", "carol", "--content", "pattern"] + Scenario.smallPattern)
        try await SignallingOutcomes.record(.exec, .check) { try await scenario.expectHeld(carol) }
        #expect(try await bob.terminate().ending == .exit(0))
        try await SignallingOutcomes.record(.exec, .record, .play) {
          let recordings = try folder.userRecordings()
          try #require(recordings.count == 1)
          #expect(recordings[0].manifest["name"] == "carol")
          try await scenario.expectGood(recordings[0], seconds: 4, name: "carol")
        }
        let mirror = try await scenario.bot(
          "mirror", at: hub.address, ["--room", "mirror", "--user", "mirror", "--loopback"])
        let dora = try await scenario.check(
          "dora", at: hub.address, seconds: 3,
          ["--room", "mirror", "--user", "dora", "--content", "returned"] + Scenario.smallPattern)
        try await SignallingOutcomes.record(.exec, .loopback) { try await scenario.expectHeld(dora) }
        #expect(try await mirror.terminate().ending == .exit(0))
      }
    }

    @Test("a call and its recording continue when the server is killed, and the program starts again with its reason")
    func lostServer() async throws {
      try await Scenario.run("48b exec server killed") { scenario in
        let hub = try await ProgramHub(in: scenario)
        let folder = await scenario.recordings()
        let bob = try await scenario.bot("bob", at: hub.address, ["--user", "bob", "--record", folder.path])
        let carol = try await scenario.bot("carol", at: hub.address, ["--user", "carol"] + Scenario.smallPattern)
        try await scenario.connected(bob)
        try await sleepOnEventLoop(for: .seconds(2))
        await hub.kill()
        try await scenario.logged("server lost, calls continue", by: bob)
        try await scenario.logged("python3: The server has closed the connection.", by: bob)
        #expect(bob.output.contains("python3 ended with exit code 1; the last line of its standard error was"))
        _ = try await ProgramHub(port: hub.port, in: scenario)
        try await scenario.joined(bob, times: 2, within: .seconds(20))
        try await scenario.joined(carol, times: 2, within: .seconds(20))
        try await scenario.connected(bob, times: 2, within: .seconds(15))
        try await sleepOnEventLoop(for: .seconds(2))
        #expect(try await carol.terminate().ending == .exit(0))
        #expect(try await bob.terminate().ending == .exit(0))
        // The server gives new ids, so another recording begins after its loss.
        let first = try folder.userRecordings().max { $0.webm.duration < $1.webm.duration }
        try await scenario.expectGood(
          try #require(first), seconds: 2, name: "carol, over the loss of the server")
      }
    }

    @Test("a program in JavaScript joins rooms over a WebSocket", .enabled(if: ProgramHub.hasNode))
    func node() async throws {
      try await Scenario.run("48c exec node") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        let player = try await scenario.bot(
          "player", at: ProgramHub.address(of: server), ["--room", "100"] + Scenario.smallPattern)
        try await scenario.connected(recorder)
        try await sleepOnEventLoop(for: .seconds(3))
        #expect(try await player.terminate().ending == .exit(0))
        #expect(try await recorder.terminate().ending == .exit(0))
        let recordings = try folder.userRecordings()
        try #require(recordings.count == 1)
        try await scenario.expectGood(recordings[0], seconds: 2, name: "player")
      }
    }

    @Test("a program that ignores leave and SIGTERM is killed, and the call ends with exit code 0")
    func stubborn() async throws {
      try await Scenario.run("48e exec stubborn") { scenario in
        let script = scenario.folder.appendingPathComponent("stubborn.sh")
        let text = """
          trap '' TERM
          echo $$ >id
          read hello; echo '{"type":"hello","version":1}'
          read join; echo '{"type":"joined","id":"me","participants":[]}'
          while :; do sleep 100; done

          """
        try Data(text.utf8).write(to: script)
        let bot = try await scenario.bot("bot", at: "exec:sh '\(script.path)'", Scenario.smallPattern)
        let id = try String(contentsOf: scenario.folder.appendingPathComponent("id"), encoding: .utf8)
        #expect(try await bot.terminate(within: .seconds(15)).ending == .exit(0))
        let process = "/proc/\(id.trimmingCharacters(in: .whitespacesAndNewlines))"
        #expect(!FileManager.default.fileExists(atPath: process), "it was reaped")
      }
    }

    @Test("a program that cannot be started, or that ends at once, is one sentence and the right exit code")
    func failures() async throws {
      try await Scenario.run("48d exec failures") { scenario in
        func expect(_ name: String, _ server: String, code: Int32, saying text: String) async throws {
          let bot = try await scenario.start(name, ["--server", server, "--play", "pattern"])
          try await scenario.expectRefusal(bot, code: code, saying: text)
        }
        try await expect("missing", "exec:/nowhere/adapter", code: 64, saying: "There is no program /nowhere/adapter")
        try await expect("text", "exec:'/etc/passwd'", code: 64, saying: "no program that may be executed")
        try await expect("failing", "exec:sh -c 'echo Oh. >&2; exit 3'", code: 69, saying: "exit code 3; the last line")
        let rejecting = #"exec:sh -c "read hello; echo '{\"type\":\"hello\",\"version\":9}'; sleep 9""#
        try await expect("newer", rejecting, code: 69, saying: "version 9 of the protocol instead of 1")
        let port = try await scenario.network.freePort()
        let adapter = BuiltProgram.repository.appendingPathComponent("Examples/ExecSignalling/adapter.py").path
        try await expect(
          "no server", "exec:python3 '\(adapter)' tcp://127.0.0.1:\(port)", code: 69, saying: "cannot be reached")
      }
    }
  }
}
