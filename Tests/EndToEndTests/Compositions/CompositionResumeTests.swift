import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Compositions that are interrupted.
  @Suite("an interrupted composition") struct CompositionResumeTests {
    private static let options = ["--size", "320x180", "--fps", "30"]
    /// Two parts of the output, or three.
    private static let seconds = CompositionTestForm.isWhole ? 130.0 : 70

    @Test("killed at random moments, it continues, and the file is the same byte for byte")
    func killed() async throws {
      try await Scenario.run("38 kills", limit: .seconds(600)) { scenario in
        let recordings = try await scenario.record(.visits(Self.seconds))
        let begun = ContinuousClock.now
        let whole = try await scenario.compose(recordings, to: "whole.mp4", Self.options)
        let length = (ContinuousClock.now - begun) / .seconds(1)
        let bytes = try Data(contentsOf: whole)
        var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: Int(length * 1_000)))
        var kills = 0
        for round in 1...(CompositionTestForm.isWhole ? 5 : 1) {
          let file = scenario.folder.appendingPathComponent("killed-\(round).mp4")
          for _ in 1...2 {
            let bot = try await scenario.bot(
              "killed \(round)", ["compose", recordings.path, "-o", file.path] + Self.options)
            try await sleepOnEventLoop(for: .seconds(Double.random(in: 0...length * 0.95, using: &generator)))
            bot.process.signal(SIGKILL)
            let ending = try await bot.ending(within: .seconds(10))
            kills += ending == .signal(SIGKILL) ? 1 : 0
            if ending == .exit(0) { break }
            #expect(!FileManager.default.fileExists(atPath: file.path), "no file before it is whole")
          }
          if !FileManager.default.fileExists(atPath: file.path) {
            try await scenario.compose(recordings, to: file.lastPathComponent, Self.options)
          }
          #expect(try Data(contentsOf: file) == bytes, "round \(round)")
          #expect(!FileManager.default.fileExists(atPath: file.path + ".parts"), "the parts are removed")
        }
        await scenario.note("measured: killed \(kills) times")
        #expect(kills > 0)
      }
    }

    @Test("ended by Ctrl-C it says what is kept, and the report has what was lost in the parts that were kept")
    func interrupted() async throws {
      try await Scenario.run("38 interrupted", limit: .seconds(300)) { scenario in
        var call = RecordedCall.hostile(70)
        call.users = Array(call.users.prefix(2))
        let recordings = try await scenario.record(call)
        func report(_ name: String) -> URL { scenario.folder.appendingPathComponent(name) }
        func losses(_ name: String) throws -> [String] {
          try JSON(parsing: String(contentsOf: report(name), encoding: .utf8))["losses"].list.map { loss in
            "\(loss["start"].double ?? -1) \(loss["end"].double ?? -1) \(loss["cause"].string ?? "")"
          }
        }
        try await scenario.compose(recordings, to: "whole.mp4", Self.options + ["--report", report("whole.json").path])
        let whole = try losses("whole.json")
        #expect(!whole.isEmpty)
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let command = ["compose", recordings.path, "-o", file.path, "--report", report("report.json").path]
        let bot = try await scenario.bot("interrupted", command + Self.options)
        let parts = URL(fileURLWithPath: file.path + ".parts")
        try await eventually("finished part", within: .seconds(120), every: .milliseconds(5)) {
          guard bot.isRunning else { throw TimeoutError(what: "part", limit: .zero, last: bot.output) }
          let names = (try? FileManager.default.contentsOfDirectory(atPath: parts.path)) ?? []
          return names.contains("video-1.part") ? true : nil
        }
        bot.process.signal(SIGINT)
        #expect(try await bot.ending(within: .seconds(10)) == .exit(130), "\(bot.output)")
        #expect(bot.output.components(separatedBy: "Interrupted: ").count == 2, "\(bot.output)")
        #expect(bot.output.contains("meeting.mp4.parts") && !FileManager.default.fileExists(atPath: file.path))
        try await scenario.compose(recordings, Self.options + ["--report", report("report.json").path])
        #expect(try losses("report.json") == whole)
      }
    }

    @Test("two at once of one folder do not disturb each other, and the same input gives the same bytes")
    func twoAtOnce() async throws {
      try await Scenario.run("38 two at once", limit: .seconds(240)) { scenario in
        let recordings = try await scenario.record(.visits(70))
        async let one = scenario.compose(recordings, to: "one.mkv", Self.options)
        async let other = scenario.compose(recordings, to: "other.mkv", Self.options)
        #expect(try await Data(contentsOf: one) == Data(contentsOf: other))
      }
    }

    @Test("other options than those of the parts are refused, and --force begins again")
    func otherOptions() async throws {
      try await Scenario.run("38 other options", limit: .seconds(240)) { scenario in
        let recordings = try await scenario.record(.visits(Self.seconds))
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let bot = try await scenario.bot("killed", ["compose", recordings.path, "-o", file.path] + Self.options)
        let parts = URL(fileURLWithPath: file.path + ".parts")
        try await eventually("finished part", within: .seconds(60), every: .milliseconds(10)) {
          guard bot.isRunning else { throw TimeoutError(what: "part", limit: .zero, last: bot.output) }
          let names = (try? FileManager.default.contentsOfDirectory(atPath: parts.path)) ?? []
          return names.contains("video-1.part") ? true : nil
        }
        bot.process.signal(SIGKILL)
        _ = try await bot.ending(within: .seconds(10))
        let others = ["--size", "320x180", "--fps", "25"]
        let refused = try await scenario.bot("refused", ["compose", recordings.path, "-o", file.path] + others)
        let ending = try await refused.ending(within: .seconds(30))
        guard case .exit(let code) = ending else { return #expect(ending == .exit(66)) }
        #expect(code != 0 && refused.output.contains("--force"), "\(refused.output)")
        try await scenario.compose(recordings, others + ["--force"])
        // The file is there now.
        let again = try await scenario.bot("again", ["compose", recordings.path, "-o", file.path] + others)
        let second = try await again.ending(within: .seconds(30))
        #expect(second != .exit(0) && again.output.contains("--force"), "\(again.output)")
      }
    }

    @Test("a full disk is waited for, and the file is the same then", .enabled(if: getuid() == 0))
    func fullDisk() async throws {
      try await Scenario.run("38 full disk", limit: .seconds(300)) { scenario in
        let recordings = try await scenario.record(.visits(Self.seconds))
        let whole = try await scenario.compose(recordings, to: "whole.mp4", Self.options)
        let disk = try await scenario.smallDisk(megabytes: 24)
        let file = "\(disk.path)/meeting.mp4"
        let command = ["compose", recordings.path, "-o", file] + Self.options
        let bot = try await scenario.bot("full disk", on: disk, command)
        try await sleepOnEventLoop(for: .milliseconds(300))
        try disk.fill()
        try await sleepOnEventLoop(for: .seconds(4))
        #expect(bot.isRunning, "\(bot.output.suffix(2_000))")
        try disk.makeRoom()
        #expect(try await bot.ending(within: .seconds(120)) == .exit(0), "\(bot.output.suffix(2_000))")
        let composed = disk.url.appendingPathComponent("meeting.mp4")
        #expect(try Data(contentsOf: composed) == Data(contentsOf: whole))
        guard CompositionTestForm.isWhole else { return }
        try FileManager.default.removeItem(at: composed)
        try disk.fill()
        let given = try await scenario.bot("given up", on: disk, command)
        #expect(try await given.ending(within: .seconds(150)) == .exit(BadInputTests.Code.disk), "\(given.output)")
        try disk.makeRoom()
        let last = try await scenario.bot("continued", on: disk, command)
        #expect(try await last.ending(within: .seconds(120)) == .exit(0), "\(last.output.suffix(2_000))")
        #expect(try Data(contentsOf: composed) == Data(contentsOf: whole))
      }
    }
  }
}
