import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Events that must not end a call, and events that must.
  @Suite("ends of the server and of the bot") struct CallEndTests {
    @Test("a server that crashes and restarts does not affect a call", .enabled(if: Machine.hasChromium))
    func serverDies() async throws {
      try await Scenario.run("6 the server is killed during the call") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        try await call.connected()
        try await sleepOnEventLoop(for: .seconds(4))
        try await server.kill()
        let framesAtDeath = try #require(try await call.reports().first).framesSent
        try await sleepOnEventLoop(for: .seconds(4))
        let framesBefore = try #require(try await call.reports().first).framesSent
        let reborn = try await scenario.server(port: server.port)
        try await call.joined(times: 2, within: .seconds(20))
        try await sleepOnEventLoop(for: .seconds(5))
        let calls = try await call.leave()
        let pause = try await call.page.evaluate("window.longestPaintingPause").double ?? 0
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(reborn.bot.isRunning)
        #expect(bot.isRunning)
        #expect(try await bot.terminate().ending == .exit(0))

        await scenario.note("\(framesBefore - framesAtDeath) frames sent while there was no server")
        #expect(framesBefore > framesAtDeath + 30, "media continues without a server")
        #expect(calls.count == 1, "the call continues after the restart")
        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 1, "the recording has one file")
        let userRecording = try #require(userRecordings.first)
        let judgement = Judgement(userRecording: userRecording, scenario: scenario, name: "Chromium")
        let report = try #require(calls.first)
        try await judgement.expectGood(of: report)
        try await judgement.expectInStep()
        let longestGap = try #require(userRecording.webm.video?.longestGap)
        await scenario.note("measured: longest gap \(longestGap) s, the page's longest pause \(pause) s")
        #expect(longestGap < 0.4 + pause + (await scenario.stall) / 1000, .onQuietMachine("no media is lost"))
      }
    }

    @Test(
      "a signal during the call closes every file within 5 s", .enabled(if: Machine.hasChromium),
      arguments: [SIGTERM, SIGINT])
    func signalInMidCall(_ number: Int32) async throws {
      let name = number == SIGTERM ? "SIGTERM" : "SIGINT"
      try await Scenario.run("7 \(name) during the call") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        try await call.connected()
        try await sleepOnEventLoop(for: .seconds(5))
        let report = try #require(try await call.reports().first)
        // The last frames that it counts are still on their way.
        try await sleepOnEventLoop(for: .milliseconds(200))
        let asked = ContinuousClock.now
        bot.process.signal(number)
        // The bot records until then. The report is older by the time that it took from the browser to this test.
        let lengths = try report.lengths(until: Date())
        let ending = try await bot.ending(within: .seconds(10))
        let took = ContinuousClock.now - asked
        await scenario.note("ended \(took.formatted(.units(allowed: [.milliseconds]))) after \(name)")
        #expect(ending == .exit(0))
        #expect(took < .seconds(5 + (await scenario.stall) / 1000))
        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 1)
        let judgement = Judgement(
          userRecording: try #require(userRecordings.first), scenario: scenario, name: "Chromium")
        try await judgement.expectGood(of: report, lengths: lengths)
        try await judgement.expectInStep()
      }
    }
  }
}
