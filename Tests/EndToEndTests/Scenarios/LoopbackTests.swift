import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// The bot with `--loopback`.
  @Suite("a bot that loops media back") struct LoopbackTests {
    @Test(
      "Chromium receives 99 % of its own frames, at most 20 ms later than another page does directly, and is recorded",
      .enabled(if: Machine.hasChromium))
    func mirror() async throws {
      try await Scenario.run("21 loopback") { scenario in
        let server = try await scenario.server()
        let browser = try await scenario.chromium()
        // The same path without the bot, measured first, so that both do not compete for the machine.
        let sender = try await scenario.watcher(in: browser, room: "direct", server: server, camera: .pattern)
        let receiver = try await scenario.watcher(in: browser, room: "direct", server: server)
        try await receiver.connected()
        try await sleepOnEventLoop(for: .seconds(6))
        let direct = try await receiver.patternReport().settled()
        await scenario.note("measured: directly: \(direct.description)")
        await sender.page.close()
        await receiver.page.close()

        let folder = await scenario.recordings()
        let bot = try await scenario.bot(
          in: "mirror", of: server, ["--loopback", "--record", folder.path], name: "mirror")
        let call = try await scenario.watcher(in: browser, room: "mirror", server: server, camera: .pattern)
        try await call.connected()
        try await sleepOnEventLoop(for: .seconds(6))
        var mirrored = try await call.patternReport().settled()
        try #require(!mirrored.videoFrames.isEmpty)
        // A pause of the browser is in one of these times, what the bot adds in each.
        for _ in 0..<2 where mirrored.delay(0.99) - direct.delay(0.99) >= 20 {
          let begun = try #require(mirrored.videoFrames.last).seenAt
          try await sleepOnEventLoop(for: .seconds(4))
          let next = try await call.patternReport().since(begun)
          if next.delay(0.99) < mirrored.delay(0.99) { mirrored = next }
        }
        await scenario.note("measured: mirrored: \(mirrored.description)")
        _ = try await call.stopSending()
        try await sleepOnEventLoop(for: .milliseconds(500))
        let last = try #require(try await call.leave().first)
        // The last frame may be discarded when sending stops.
        let share = Double(last.framesDecoded) / Double(max(1, last.framesSent - 1))
        let added = (mirrored.delay(0.5) - direct.delay(0.5), mirrored.delay(0.99) - direct.delay(0.99))
        await scenario.note(
          String(
            format: "measured: %d of %d frames returned (%.1f %%); median %+.0f ms, 99th percentile %+.0f ms",
            last.framesDecoded, last.framesSent, 100 * share, added.0, added.1))
        #expect(mirrored.isInOrder)
        #expect(share >= 0.99, .onQuietMachine("the page receives what it sends"))
        try SignallingOutcomes.append(.skyRTC, .loopback, .passed)
        let stall = await scenario.stall
        #expect(added.0 < 20 + stall, .onQuietMachine("added to the median, in milliseconds"))
        #expect(added.1 < 20 + stall, .onQuietMachine("added to the 99th percentile, in milliseconds"))
        #expect(try await bot.terminate().ending == .exit(0))
        let userRecording = try #require(try folder.userRecordings().first)
        #expect(
          userRecording.manifest["tracks"].list.allSatisfy { $0["decodeErrors"] == 0 }, "the call is recorded too")
      }
    }
  }
}
