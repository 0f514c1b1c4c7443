import Foundation
import Testing

extension EndToEndWithoutBrowsers {
  /// The program on its own, without a browser.
  @Suite("the program on its own") struct AloneTests {
    @Test(
      "if no server runs, the bot starts one, prints its URL, and other bots join", .enabled(if: Machine.hasFirefox)
    )
    func embeddedServer() async throws {
      // In its own network namespace, port 3000 is free.
      try await Scenario.run("8 the bot starts a server", isolated: true) { scenario in
        let folder = await scenario.recordings()
        let player = try await scenario.bot("player", ["--room", "a b", "--play", BuiltProgram.sample.path])
        try await eventually("the embedded server", within: .seconds(10), every: .milliseconds(50)) {
          await scenario.network.accepts(port: 3000) ? true : nil
        }
        let recorder = try await scenario.bot(
          "recorder", ["--room", "a b", "--record", folder.path, "--duration", "4"])
        #expect(try await recorder.ending(within: .seconds(15)) == .exit(0))
        #expect(player.output.contains("a room server was started here: open http://127.0.0.1:3000/#a%20b"))
        let userRecording = try #require(try folder.userRecordings().first)
        #expect(userRecording.manifest["room"] == "a b")
        #expect(userRecording.manifest["endReason"] == "stopped")
        #expect(try await player.terminate().ending == .exit(0))
      }
    }

    @Test("the same signal twice at once, as `timeout` sends it, ends the bot properly, and so does SIGHUP")
    func sameSignalTwice() async throws {
      try await Scenario.run("7d the same signal twice") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path], name: "player")
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        try await sleepOnEventLoop(for: .seconds(2))
        for _ in 0..<2 {
          recorder.process.signal(SIGTERM)
          try await sleepOnEventLoop(for: .milliseconds(20))
        }
        #expect(try await recorder.ending(within: .seconds(10)) == .exit(0))
        let userRecording = try #require(try folder.userRecordings().first)
        #expect(userRecording.manifest["finished"] == true)
        player.process.signal(SIGHUP)
        #expect(try await player.ending(within: .seconds(10)) == .exit(0))
      }
    }

    @Test("a second signal ends the bot at once")
    func secondSignal() async throws {
      try await Scenario.run("7c a second signal") { scenario in
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "100", of: server, ["--play", BuiltProgram.sample.path])
        // Both signals wait while the program is stopped, so that it cannot end properly before the second one.
        bot.process.signal(SIGSTOP)
        bot.process.signal(SIGTERM)
        bot.process.signal(SIGINT)
        bot.process.signal(SIGCONT)
        let ending = try await bot.ending(within: .seconds(5))
        #expect(ending == .exit(128 + SIGINT) || ending == .exit(128 + SIGTERM))
      }
    }

    @Test("a file that is played once waits for its first viewer and is recorded completely")
    func playedOnce() async throws {
      try await Scenario.run("9 --once") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let short = try BuiltProgram.shortSample(in: scenario.folder)
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", short.path, "--once"], name: "player")
        try await sleepOnEventLoop(for: .seconds(1))
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        #expect(try await player.ending(within: .seconds(20)) == .exit(0))
        try await scenario.logged(" call ended ", by: recorder)
        #expect(try await recorder.terminate().ending == .exit(0))
        let userRecording = try #require(try folder.userRecordings().first)
        #expect(userRecording.webm.video?.times.count == 120)
        #expect(try Recording.payloadDigests(of: userRecording.webm.file) == Recording.payloadDigests(of: short))
        #expect(userRecording.manifest["endReason"] == "left")
      }
    }

    @Test("the call ends after the time of --duration")
    func durationEnds() async throws {
      try await Scenario.run("7b --duration ends the call") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        _ = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
        let begun = ContinuousClock.now
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path, "--duration", "5s"])
        #expect(try await bot.ending(within: .seconds(15)) == .exit(0))
        let took = ContinuousClock.now - begun
        await scenario.note("ended after \(took.formatted(.units(allowed: [.milliseconds])))")
        #expect(took > .seconds(4.9))
        #expect(took < .seconds(8 + (await scenario.stall) / 1000))
        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 1)
        let judgement = Judgement(
          userRecording: try #require(userRecordings.first), scenario: scenario, name: "the player")
        try judgement.expectValidFiles()
        try await judgement.expectInStep(within: 0.020)
      }
    }
  }
}
