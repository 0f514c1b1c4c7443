import Foundation
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Compositions of rooms with strangers who mean harm.
  @Suite("compositions of hostile rooms") struct CompositionHostileTests {
    /// In MiB.
    private static let memoryBound = 600.0

    /// Composes a folder, and returns the greatest memory of the program and its children, in MiB.
    private static func compose(
      _ recordings: URL, _ options: [String] = [], in scenario: Scenario
    ) async throws -> (file: URL, memory: Double) {
      let file = scenario.folder.appendingPathComponent("meeting.mp4")
      let bot = try await scenario.bot("compose", ["compose", recordings.path, "-o", file.path] + options)
      var most = 0.0
      while bot.isRunning {
        most = max(most, ProcessTree.memory(of: bot.process.id))
        try await sleepOnEventLoop(for: .milliseconds(100))
      }
      try #require(try await bot.ending(within: .seconds(5)) == .exit(0), "\(bot.output.suffix(2_000))")
      await scenario.note(String(format: "measured: at most %.0f MiB", most))
      return (file, most)
    }

    /// Expects that the user who does no harm is shown and heard as if alone.
    private static func expectHonest(_ composed: ComposedFile, pattern: String = "1") throws {
      let stream = try #require(composed.streams[pattern])
      #expect(stream.lowest >= -1.6 && stream.highest <= 35 && stream.back == 0 && stream.gone == 0)
      let marks = try #require(composed.marks["0"] ?? composed.marks[pattern])
      #expect(max(abs(marks.lowest), abs(marks.highest)) < 10)
    }

    @Test("broken H.264, absurd sizes and long names harm nobody else")
    func hostile() async throws {
      try await Scenario.run("38 hostile", limit: .seconds(300)) { scenario in
        let call = RecordedCall.hostile()
        let recordings = try await scenario.record(call)
        let (file, memory) = try await Self.compose(recordings, in: scenario)
        let composed = try ComposedFile.read(file)
        try Self.expectHonest(composed)
        try Self.expectHonest(composed, pattern: "4")
        #expect(memory < Self.memoryBound)
        let broken = try #require(composed.streams["2"])
        #expect(broken.last > composed.frames - 10, "a user who sends whole frames again is shown again")
        #expect(composed.streams["3"] != nil)
      }
    }

    @Test("200 users of a second each are composed within the bound of memory")
    func crowd() async throws {
      try await Scenario.run("38 crowd", limit: .seconds(240)) { scenario in
        let call = RecordedCall.crowd(CompositionTestForm.isWhole ? 199 : 99)
        let recordings = try await scenario.record(call)
        let (file, memory) = try await Self.compose(recordings, in: scenario)
        let composed = try ComposedFile.read(file)
        try Self.expectHonest(composed)
        #expect(memory < Self.memoryBound)
        #expect(composed.streams.count == call.users.count)
      }
    }

    @Test("25 users of 1280x720 need no more memory than the bound", .enabled(if: CompositionTestForm.isWhole))
    func large() async throws {
      try await Scenario.run("38 large", limit: .seconds(900)) { scenario in
        let recordings = try await scenario.record(.large(25, seconds: 20))
        let (_, memory) = try await Self.compose(recordings, in: scenario)
        #expect(memory < Self.memoryBound)
      }
    }
  }
}
