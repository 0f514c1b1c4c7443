import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// One browser and a recording bot, in either order of joining.
  @Suite("a call with one browser") struct CallTests {
    @Test("Chromium joins after the bot, and what it sends is recorded", .enabled(if: Machine.hasChromium))
    func chromiumJoinsAfterTheBot() async throws {
      try await Scenario.run("1 Chromium joins after the bot") { scenario in
        let camera = try FakeCamera.make(in: scenario.folder)
        let report = try await joinAfterTheBot(
          scenario.chromium(camera: camera), in: scenario, camera: .own, seconds: 11)
        let best = report.bitrates.prefix(10).max() ?? 0
        let bySecond = report.bitrates.map { "\(Int($0 / 1000))" }.joined(separator: " ")
        let limited = report.json["sent"]["video"]["qualityLimitationDurations"]["cpu"].double ?? 0
        await scenario.note("kb/s of video by second: \(bySecond); limited by the CPU for \(limited) s")
        #expect(
          best > 1_000_000 || limited > 5,
          .onQuietMachine("transport-cc and REMB let Chromium raise its bitrate, unless its CPU is too slow to encode"))
      }
    }

    @Test("Chromium joins before the bot and is recorded in sync", .enabled(if: Machine.hasChromium))
    func chromiumWasThereFirst() async throws {
      try await Scenario.run("2 Chromium joins before the bot") { scenario in
        try await wasThereFirst(scenario.chromium(), in: scenario)
      }
    }

    @Test("Firefox joins after the bot, and what it sends is recorded", .enabled(if: Machine.hasFirefox))
    func firefoxJoinsAfterTheBot() async throws {
      try await Scenario.run("3a Firefox joins after the bot", isolated: true) { scenario in
        _ = try await joinAfterTheBot(scenario.firefox(), in: scenario, camera: .flashing, seconds: 6)
      }
    }

    @Test("Firefox joins before the bot and is recorded in sync", .enabled(if: Machine.hasFirefox))
    func firefoxWasThereFirst() async throws {
      try await Scenario.run("3b Firefox joins before the bot", isolated: true) { scenario in
        try await wasThereFirst(scenario.firefox(), in: scenario)
      }
    }

    /// The browser sends the offer, the bot answers.
    private func joinAfterTheBot(
      _ browser: some Browser, in scenario: Scenario, camera: Camera, seconds: Int
    ) async throws -> CallReport {
      let server = try await scenario.server()
      let folder = await scenario.recordings()
      let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
      let call = try await scenario.call(in: browser, room: "100", server: server, camera: camera)
      try await call.connected()
      try await sleepOnEventLoop(for: .seconds(seconds))
      let report = try #require(try await call.vanish().first)
      // The page sends until its window is closed, at some time between the report and now.
      let lengths = try report.lengths(until: Date())
      let offered = try #require(report.offeredAt, "the newcomer sends the offer")
      let userRecording = try await leftBehind(by: bot, in: folder)
      let video = try #require(userRecording.manifest["tracks"].list.first { $0["kind"] == "video" })
      let decoded = try #require(video.date("firstDecoded")) * 1000
      await scenario.note("offer to first decoded frame \(Int(decoded - offered)) ms")
      #expect(decoded - offered < 1000 + (await scenario.stall), .onQuietMachine("in milliseconds"))
      try await Judgement(userRecording: userRecording, scenario: scenario, name: browser.name)
        .expectGood(of: report, lengths: lengths)
      try SignallingOutcomes.append(.skyRTC, .record, .passed)
      return report
    }

    /// The bot sends the offer, the browser answers.
    private func wasThereFirst(_ browser: some Browser, in scenario: Scenario) async throws {
      let server = try await scenario.server()
      let folder = await scenario.recordings()
      let call = try await scenario.call(in: browser, room: "100", server: server, camera: .flashing)
      try await call.joined()
      let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
      try await call.connected()
      try await sleepOnEventLoop(for: .seconds(6))
      let report = try #require(try await call.leave().first)
      #expect(report.json["answeredAt"].double != nil, "the browser answers the newcomer")
      let userRecording = try await leftBehind(by: bot, in: folder)
      let judgement = Judgement(userRecording: userRecording, scenario: scenario, name: browser.name)
      try await judgement.expectGood(of: report)
      try await judgement.expectInStep()
      #expect(await call.page.errors == [])
    }

    /// Ends the bot after the browser has left, and returns its only recording.
    private func leftBehind(by bot: Bot, in folder: RecordingFolder) async throws -> RecordingFolder.UserRecording {
      try await sleepOnEventLoop(for: .milliseconds(500))
      let end = try await bot.terminate()
      #expect(end.ending == .exit(0))
      let userRecordings = try folder.userRecordings()
      #expect(userRecordings.count == 1)
      return try #require(userRecordings.first)
    }
  }
}
