import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// The bot as a camera.
  @Suite("a bot that plays a file") struct PlaybackSessionTests {
    @Test("Chromium shows it at 24 fps or more and plays its beeps", .enabled(if: Machine.hasChromium))
    func chromiumWatches() async throws {
      try await Scenario.run("5 Chromium watches the playing bot") { scenario in
        let server = try await scenario.server()
        let file = try BuiltProgram.shortSample(in: scenario.folder)
        let bot = try await scenario.bot(in: "cinema", of: server, ["--play", file.path, "--loop"])
        let call = try await scenario.call(in: scenario.chromium(), room: "cinema", server: server)
        let first = try await call.firstVideoFrame()
        let offered = try #require(first.offeredAt)
        let pictured = try #require(first.firstVideoFrameAt)
        await scenario.note("offer to first frame \(Int(pictured - offered)) ms")
        #expect(pictured - offered < 1000 + (await scenario.stall), .onQuietMachine("in milliseconds"))

        // Longer than the file, to include the restart of the loop.
        let begin = try #require(try await call.reports().first)
        try await sleepOnEventLoop(for: .seconds(7))
        let end = try #require(try await call.leave().first)
        let seconds = (end.reportedAt - begin.reportedAt) / 1000
        // The browser's counters are older than the report.
        let counted = (end.receivedAt - begin.receivedAt) / 1000
        let decoded = Double(end.framesDecoded - begin.framesDecoded) / counted
        let shown = Double(end.videoFramesShown - begin.videoFramesShown) / seconds
        let heard = end.beeps.filter { $0 > begin.reportedAt }
        let flashed = end.flashes.filter { $0 > begin.reportedAt }
        await scenario.note(
          """
          \(end.receivedSize), \(String(format: "%.1f", decoded)) fps decoded, \(String(format: "%.1f", shown)) shown, \
          \(flashed.count) flashes and \(heard.count) beeps in \(Int(seconds)) s, \(end.packetsLost) packets lost
          """)
        #expect(end.receivedSize == "640x480")
        let received = Double(end.framesReceived - begin.framesReceived) / counted
        #expect(received >= 29, .onQuietMachine("the bot sends all frames, by getStats"))
        #expect(end.packetsLost == 0)
        #expect(decoded >= 24, .onQuietMachine("Chromium decodes the frames"))
        #expect(shown >= 24, .onQuietMachine("Chromium shows the frames"))
        #expect(flashed.count >= 5, .onQuietMachine("measured in the page's pixels"))
        #expect(heard.count >= 5, .onQuietMachine("measured in the page's samples"))
        let offsets = flashed.compactMap { flash in heard.map { $0 - flash }.min { abs($0) < abs($1) } }.sorted()
        await scenario.note("audio heard after video by \(offsets.map { Int($0) }) ms")
        let limit = 120 + (await scenario.stall)
        #expect(
          !offsets.isEmpty && abs(offsets[offsets.count / 2]) < limit,
          .onQuietMachine("below what viewers notice"))
        try SignallingOutcomes.append(.skyRTC, .play, .passed)
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    @Test("a viewer without a camera that joins late sees a complete frame at once", .enabled(if: Machine.hasChromium))
    func lateViewer() async throws {
      try await Scenario.run("5b a viewer comes late") { scenario in
        let server = try await scenario.server()
        _ = try await scenario.bot(in: "cinema", of: server, ["--play", BuiltProgram.sample.path, "--loop"])
        let browser = try await scenario.chromium()
        let early = try await scenario.call(in: browser, room: "cinema", server: server, camera: .refused)
        _ = try await early.firstVideoFrame()
        // The sample has a keyframe in each second, so half a second after one is the worst moment to join.
        try await sleepOnEventLoop(for: .milliseconds(1500))
        let late = try await scenario.call(in: browser, room: "cinema", server: server, camera: .refused)
        let first = try await late.firstVideoFrame()
        let offered = try #require(first.offeredAt)
        let pictured = try #require(first.firstVideoFrameAt)
        await scenario.note("offer to first frame \(Int(pictured - offered)) ms")
        #expect(pictured - offered < 1000 + (await scenario.stall), .onQuietMachine("in milliseconds"))
      }
    }
  }
}
