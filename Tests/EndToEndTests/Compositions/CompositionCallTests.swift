import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Compositions of calls of bots who send the pattern, by the wall clock.
  @Suite("composed calls") struct CompositionCallTests {
    @Test("users who come and go are shown at the same moment, and the marks are where the lamp is")
    func bots() async throws {
      try await Scenario.run("38 call", limit: .seconds(240)) { scenario in
        let part = CompositionTestForm.isWhole ? 10.0 : 2.0
        let server = try await scenario.server()
        let recordings = await scenario.recordings()
        let recorder = try await scenario.bot(
          in: "100", of: server, ["--record", recordings.path, "--name", "recorder"], name: "recorder")
        var users: [Bot] = []
        func join(_ name: String) async throws {
          users.append(
            try await scenario.bot(
              in: "100", of: server, ["--play", "pattern", "--size", "640x480", "--name", name], name: name))
        }
        try await join("Alice")
        try await sleepOnEventLoop(for: .seconds(part))
        try await join("Bob")
        try await join("Carol")
        try await sleepOnEventLoop(for: .seconds(part))
        _ = try await users[1].terminate()
        try await join("Dave")
        try await sleepOnEventLoop(for: .seconds(part * 2))
        _ = try await users[0].terminate()
        try await sleepOnEventLoop(for: .seconds(part))
        #expect(try await recorder.terminate().ending == .exit(0))
        for user in users { _ = try? await user.terminate() }

        let times = try ManifestTimes(recordings.url)
        let zero = try #require(
          try recordings.files("json").compactMap { file in
            try JSON(parsing: String(contentsOf: file, encoding: .utf8)).date("start")
          }.min())
        let file = try await scenario.compose(recordings.url)
        let composed = try ComposedFile.read(file, beginning: zero * 1_000)
        await scenario.note("measured: spread \(composed.spread?.most ?? -1) ms, marks \(composed.marks)")
        #expect(composed.frames == times.users.map(\.frames.upperBound).max() && composed.irregular == 0)
        // All have the same id of a stream, so the reader sees each frame's tiles as one stream, and their spread.
        let wide = composed.spread?.wide ?? 0
        #expect(
          wide * 50 <= composed.frames, .onQuietMachine("\(wide) of \(composed.frames) frames have other moments"))
        let marks = try #require(composed.marks["0"])
        let stall = await scenario.stall
        #expect(Double(marks.count) > composed.frames.seconds - 3, "\(marks)")
        #expect(marks.highest - marks.lowest < 10 + stall, "\(marks)")
        let stream = try #require(composed.streams.values.first)
        #expect(stream.lowest - marks.highest > -10 - stall && stream.lowest - marks.lowest < 44 + stall)
      }
    }

    @Test("call --record --compose composes when the call has ended, and its failure changes no exit code")
    func afterTheCall() async throws {
      try await Scenario.run("38 call --compose", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop", "--name", "Alice"], name: "player")
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let recordings = await scenario.recordings()
        let recorder = try await scenario.bot(
          in: "100", of: server,
          ["--record", recordings.path, "--compose", file.path, "--duration", "3s"], name: "recorder")
        #expect(try await recorder.ending(within: .seconds(60)) == .exit(0), "\(recorder.output)")
        #expect(try ComposedFile.read(file).frames > 40)
        // The file is there already.
        let again = try await scenario.bot(
          in: "100", of: server,
          ["--record", await scenario.recordings("again").path, "--compose", file.path, "--duration", "3s"],
          name: "again")
        #expect(try await again.ending(within: .seconds(60)) == .exit(0))
        #expect(again.output.contains("meeting.mp4"), "\(again.output)")
        #expect(player.isRunning)
      }
    }
  }
}

extension Int {
  /// How long so many frames are at 30 a second.
  fileprivate var seconds: Double { Double(self) / 30 }
}
