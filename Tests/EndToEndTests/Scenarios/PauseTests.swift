import Foundation
import Media
import NetworkEmulation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Recordings that are paused by signals. The pattern says when each frame was painted, and its audio which second it is.
  @Suite("pauses of a recording") struct PauseTests {
    /// A paused interval, in seconds since 1970.
    private struct Pause {
      var start: Double
      var end: Double

      /// Whether something at a time is of the pause for certain.
      func contains(_ time: Double) -> Bool { time > start + 0.2 && time < end - 0.2 }
    }

    private static let size = VideoSize(width: 320, height: 240)
    private static let pattern = ["--play", "pattern", "--size", "320x240", "--fps", "15"]

    @Test("SIGUSR1 and SIGUSR2 pause a recording: nothing of that time is in its one file, with loss and reordering")
    func signals() async throws {
      try await Scenario.run("37 a paused recording") { scenario in
        let server = try await scenario.server()
        let relay = try await scenario.relay(to: server, seed: 37)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, via: relay, ["--record", folder.path])
        let player = try await scenario.bot(in: "100", of: server, Self.pattern, name: "player")
        try await eventually("a recording", within: .seconds(10)) { folder.files("json").first }
        await relay.impair(.init(loss: 0.05, reorder: 0.05))
        try await sleepOnEventLoop(for: .seconds(4))
        var pauses: [Pause] = []
        for length in [2.5, 0.8] {
          let start = try await Self.signal(SIGUSR1, recorder, pauses.count + 1, "recording paused", in: scenario)
          try await sleepOnEventLoop(for: .seconds(length))
          let end = try await Self.signal(SIGUSR2, recorder, pauses.count + 1, "recording resumed", in: scenario)
          pauses.append(Pause(start: start, end: end))
          try await sleepOnEventLoop(for: .seconds(3))
        }
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await player.terminate().ending == .exit(0))

        let user = try #require(try folder.userRecordings().first)
        #expect(folder.files("webm").count == 1 && folder.files("ogg").count == 1)
        try Self.expectGaps(user.manifest, pauses, stall: await scenario.stall)
        let frames = try Self.paintedTimes(in: user.webm.file, scenario)
        #expect(frames.count > 60)
        for pause in pauses {
          #expect(!frames.contains(where: pause.contains), "a frame of the pause from \(pause.start) to \(pause.end)")
          #expect(frames.contains { $0 < pause.start } && frames.contains { $0 > pause.end })
        }
        for file in [user.webm.file, user.ogg.file] {
          let seconds = try RecordedPattern.markedSeconds(
            in: file, near: pauses[0].start, scratch: scenario.folder)
          #expect(!seconds.isEmpty)
          // A mark lasts 0.22 s.
          let heard = seconds.filter { second in pauses.contains { $0.contains(second) && $0.contains(second + 0.22) } }
          #expect(heard == [], "\(file.lastPathComponent)")
          #expect(try Recording(file).decodingErrors() == "")
        }
        let inspection = try ExternalTool.run(
          try BuiltProgram.path(),
          ["inspect", folder.path, "--expect", "video.freeze <= 700ms", "--expect", "audio.silence <= 700ms"])
        #expect(inspection.status == 0, "\(inspection.output)")
      }
    }

    @Test(
      "with --consent required nothing is recorded before SIGUSR2, and a kill in a pause leaves what a repair keeps")
    func consent() async throws {
      try await Scenario.run("37b a recording with consent") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        _ = try await scenario.bot(in: "100", of: server, Self.pattern, name: "player")
        let recorder = try await scenario.bot(
          in: "100", of: server, ["--record", folder.path, "--consent", "required"])
        try await scenario.logged(" user connected ", by: recorder)
        let begun = Date().timeIntervalSince1970
        try await sleepOnEventLoop(for: .seconds(3))
        #expect(folder.files("webm").isEmpty && folder.files("json").isEmpty)
        let resumed = try await Self.signal(SIGUSR2, recorder, 1, "recording resumed", in: scenario)
        try await sleepOnEventLoop(for: .seconds(4))
        let paused = try await Self.signal(SIGUSR1, recorder, 1, "recording paused", in: scenario)
        try await sleepOnEventLoop(for: .seconds(3))
        recorder.process.signal(SIGKILL)
        _ = try await recorder.ending(within: .seconds(5))
        let killed = Date().timeIntervalSince1970
        let repair = try ExternalTool.run(try BuiltProgram.path(), ["repair", folder.path])
        #expect(repair.status == 0, "\(repair.output)")

        let user = try #require(try folder.userRecordings().first)
        #expect(user.manifest["finished"] == true && user.manifest["repaired"] == true)
        let gaps = user.manifest["tracks"].list.map { $0["gaps"].list.compactMap { $0["reason"].string } }
        #expect(gaps.count == 2 && gaps.allSatisfy { $0.last == "paused" })
        let frames = try Self.paintedTimes(in: user.webm.file, scenario)
        let before = Pause(start: begun - 1, end: resumed)
        let after = Pause(start: paused, end: killed + 1)
        #expect(frames.count > 30 && !frames.contains { before.contains($0) || after.contains($0) })
      }
    }

    /// Returns when each frame of a file was painted, in seconds since 1970.
    private static func paintedTimes(in file: URL, _ scenario: Scenario) throws -> [Double] {
      try RecordedPattern.frames(in: file, size: size, scratch: scenario.folder).map(\.time)
    }

    /// Sends a signal, and returns when it was carried out.
    private static func signal(
      _ number: Int32, _ bot: Bot, _ count: Int, _ line: String, in scenario: Scenario
    ) async throws -> Double {
      let begun = Date().timeIntervalSince1970
      bot.process.signal(number)
      try await eventually(line, within: .seconds(5), every: .milliseconds(5)) {
        bot.output.components(separatedBy: line).count > count ? true : nil
      }
      let ended = Date().timeIntervalSince1970
      #expect(ended - begun < 1 + (await scenario.stall) / 1_000)
      return number == SIGUSR1 ? ended : begun
    }

    /// Expects gaps of the reason `paused` at the pauses.
    private static func expectGaps(_ manifest: JSON, _ pauses: [Pause], stall: Double) throws {
      let zero = try #require(manifest.date("start"))
      for track in manifest["tracks"].list {
        let kind = track["kind"].string ?? ""
        let gaps = track["gaps"].list.filter { $0["reason"] == "paused" }
        #expect(gaps.count == pauses.count, "\(kind)")
        for (gap, pause) in zip(gaps, pauses) {
          let start = gap["start"].double ?? .nan
          let length = gap["duration"].double ?? .nan
          let tolerance = 0.25 + stall / 1_000
          #expect(abs(start - (pause.start - zero)) < tolerance, "\(kind)")
          #expect(abs(start + length - (pause.end - zero)) < tolerance, "\(kind)")
        }
      }
    }
  }
}
