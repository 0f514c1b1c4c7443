import Foundation
import Media
import RecordedCalls
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Which recordings are composed, and what is refused.
  @Suite("recordings to compose") struct CompositionChoiceTests {
    private static let noInput: Int32 = 66
    private static let usage: Int32 = 64
    private static let small = ["--size", "320x180"]

    /// Runs `chatbot compose` and returns its exit code and output.
    private static func run(_ arguments: [String], in scenario: Scenario) async throws -> (code: Int32?, output: String)
    {
      let bot = try await scenario.bot("compose \(UUID().uuidString.prefix(4))", ["compose"] + arguments)
      guard case .exit(let code) = try await bot.ending(within: .seconds(60)) else { return (nil, bot.output) }
      return (code, bot.output)
    }

    private static func call(_ id: String, from begin: Double, pattern: UInt16 = 1) -> RecordedCall {
      RecordedCall([RecordedUser(id, name: id, begin..<begin + 3, pattern: pattern)])
    }

    @Test("of several calls one is chosen by its number, or all are composed")
    func severalCalls() async throws {
      try await Scenario.run("38 several calls", limit: .seconds(60)) { scenario in
        let recordings = try await scenario.record(Self.call("first", from: 0))
        try await Self.call("second", from: 2_000, pattern: 2).record(into: recordings.path)
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let arguments = [recordings.path, "-o", file.path] + Self.small
        let listed = try await Self.run(arguments, in: scenario)
        #expect(listed.code == Self.noInput && listed.output.contains("first") && listed.output.contains("second"))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let second = try await Self.run(arguments + ["--call", "2"], in: scenario)
        try #require(second.code == 0, "\(second.output)")
        let composed = try ComposedFile.read(file)
        #expect(composed.frames == 90 && composed.streams["2"]?.count == 90)
        // A call that an option does not fit is said, and the other one is composed.
        let missing = scenario.folder.appendingPathComponent("missing.json").path
        let some = try await Self.run(arguments + [missing, "--all", "--layout", "only:first"], in: scenario)
        #expect(some.code == Self.usage && some.output.contains("Call 2 is not composed: "), "\(some.output)")
        #expect(some.output.components(separatedBy: "missing.json").count == 2, "said once: \(some.output)")
        let one = scenario.folder.appendingPathComponent("meeting-1.mp4")
        #expect(try ComposedFile.read(one).streams["1"]?.count == 90)
        // The first one is there already.
        let all = try await Self.run(arguments + ["--all"], in: scenario)
        #expect(all.code == 73 && all.output.contains("Call 1 is not composed: "), "\(all.output)")
        let two = scenario.folder.appendingPathComponent("meeting-2.mp4")
        #expect(try ComposedFile.read(two).streams["2"]?.count == 90)
      }
    }

    @Test("recordings of a killed recorder are refused until they are repaired, and are composed with others then")
    func unfinished() async throws {
      try await Scenario.run("38 unfinished", limit: .seconds(90)) { scenario in
        var call = RecordedCall.visits(12)
        call.users = Array(call.users.prefix(3))
        // Another process records the third user, and is killed.
        call.users[2].session = 1
        call.users[2].endReason = .killed
        let recordings = try await scenario.record(call)
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let arguments = [recordings.path, "-o", file.path] + Self.small
        let refused = try await Self.run(arguments, in: scenario)
        #expect(refused.code == Self.noInput && refused.output.contains("chatbot repair"), "\(refused.output)")
        let partial = try await Self.run(arguments + ["--partial"], in: scenario)
        try #require(partial.code == 0, "\(partial.output)")
        #expect(try ComposedFile.read(file, of: call).streams["3"] != nil)
        let repair = try ExternalTool.run(try BuiltProgram.path(), ["repair", recordings.path])
        #expect(repair.status == 0, "\(repair.output)")
        let whole = try await Self.run(arguments + ["--force"], in: scenario)
        try #require(whole.code == 0, "\(whole.output)")
        // What the killed recorder had received of the video and not written is missing at its end.
        let end = try #require(try ManifestTimes(recordings)["c1"]?.ends["video"])
        let composed = try ComposedFile.read(file, of: call, part: 0..<end - 1.0 / 30)
        let carol = try #require(composed.streams["3"])
        #expect(
          carol.lowest > -3 && carol.highest < 37, "aligned by the wall clock: \(carol.lowest) to \(carol.highest)")
        #expect(composed.strange == 0)
      }
    }

    @Test("a missing or a damaged file is a sentence, and the user is composed from what is left")
    func damaged() async throws {
      try await Scenario.run("38 damaged", limit: .seconds(90)) { scenario in
        let recordings = try await scenario.record(.visits(8))
        try FileManager.default.removeItem(at: recordings.appendingPathComponent("Carol.webm"))
        let broken = recordings.appendingPathComponent("Alice.webm")
        var bytes = try Data(contentsOf: broken)
        for index in stride(from: bytes.count / 2, to: bytes.count / 2 + 20_000, by: 1) { bytes[index] = 0x55 }
        try bytes.write(to: broken)
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let report = scenario.folder.appendingPathComponent("report.json")
        let result = try await Self.run(
          [recordings.path, "-o", file.path, "--report", report.path] + Self.small, in: scenario)
        try #require(result.code == 0, "\(result.output)")
        #expect(result.output.contains("Carol.webm"), "\(result.output)")
        let composed = try ComposedFile.read(file, of: .visits(8))
        #expect(composed.streams["3"] == nil && composed.streams["2"] != nil)
        #expect(composed.marks["3"] != nil, "Carol is heard from the other file")
        #expect(result.output.contains("Alice.webm") && composed.marks["1"] != nil, "and so is Alice")
        let alice = try #require(composed.streams["1"])
        #expect(alice.count > 60 && alice.last > composed.frames - 10, "Alice is shown before and after the damage")
        let text = try JSON(parsing: String(contentsOf: report, encoding: .utf8))
        let losses = text["losses"].list.filter { $0["cause"].string == "damagedFile" }
        #expect(losses.count == 1 && (losses.first?["end"].double ?? 0) > (losses.first?["start"].double ?? 99))
        #expect(text["problems"].list.contains { $0.string?.contains("Alice.webm") ?? false })
        #expect(composed.strange == 0)
      }
    }

    @Test(
      "a file that exists is kept, and options beyond the limits are refused",
      arguments: [
        ["--size", "3842x2160"], ["--fps", "61"], ["--layout", "circle"], ["--quality", "11"], ["--size", "321x181"],
        ["--layout", "only:Nobody"],
      ])
    func refused(_ options: [String]) async throws {
      try await Scenario.run("38 refused \(options[1])", limit: .seconds(60)) { scenario in
        let recordings = try await scenario.record(Self.call("anna", from: 0))
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let result = try await Self.run([recordings.path, "-o", file.path] + options, in: scenario)
        #expect(result.code == Self.usage, "\(result.output)")
        #expect(result.output.contains("Error: "))
        try Data("kept".utf8).write(to: file)
        let exists = try await Self.run([recordings.path, "-o", file.path] + Self.small, in: scenario)
        #expect(exists.code != 0 && exists.output.contains("--force"), "\(exists.output)")
        #expect(try Data(contentsOf: file) == Data("kept".utf8))
      }
    }

    @Test("without chatbot-media nothing is decoded in the program, and that is said")
    func withoutWorkers() async throws {
      try await Scenario.run("38 without workers", limit: .seconds(60)) { scenario in
        let recordings = try await scenario.record(Self.call("anna", from: 0))
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let process = try await scenario.program(
          "compose", [try BuiltProgram.path(), "compose", recordings.path, "-o", file.path] + Self.small,
          environment: ["CHATBOT_MEDIA": "/nowhere/chatbot-media"])
        let bot = Bot(process: process)
        #expect(try await bot.ending(within: .seconds(30)) == .exit(70), "\(bot.output)")
        #expect(bot.output.contains("CHATBOT_MEDIA"), "\(bot.output)")
        #expect(!FileManager.default.fileExists(atPath: file.path + ".parts"), "nothing is left")
        #expect(!FileManager.default.fileExists(atPath: file.path))
      }
    }

    @Test("a dry run writes nothing but the plan, and a report says what happened")
    func report() async throws {
      try await Scenario.run("38 report", limit: .seconds(60)) { scenario in
        let recordings = try await scenario.record(.visits(8))
        let file = scenario.folder.appendingPathComponent("meeting.mp4")
        let report = scenario.folder.appendingPathComponent("report.json")
        let dry = try await Self.run([recordings.path, "-o", file.path, "--dry-run"], in: scenario)
        #expect(dry.code == 0 && dry.output.contains("Alice") && dry.output.contains("Carol"), "\(dry.output)")
        #expect(!FileManager.default.fileExists(atPath: file.path))
        let result = try await Self.run(
          [recordings.path, "-o", file.path, "--report", report.path, "--exclude", "Bob"] + Self.small, in: scenario)
        try #require(result.code == 0, "\(result.output)")
        let text = try String(contentsOf: report, encoding: .utf8)
        let parsed = try JSON(parsing: text)
        #expect(parsed["version"].int == 1)
        #expect(text.contains("Alice") && text.contains("session"), "\(text.prefix(2_000))")
        #expect(try ComposedFile.read(file, of: .visits(8)).streams["2"] == nil)
      }
    }
  }

  /// Recordings in other containers.
  @Suite("chatbot remux") struct RemuxTests {
    private static func run(_ arguments: [String], in scenario: Scenario) async throws -> (code: Int32?, output: String)
    {
      let bot = try await scenario.bot("remux \(UUID().uuidString.prefix(4))", ["remux"] + arguments)
      guard case .exit(let code) = try await bot.ending(within: .seconds(60)) else { return (nil, bot.output) }
      return (code, bot.output)
    }

    @Test("video is copied bit by bit, audio is encoded on demand, and what a container cannot hold is said")
    func containers() async throws {
      try await Scenario.run("38 remux", limit: .seconds(90)) { scenario in
        let recordings = try await scenario.record(
          RecordedCall([
            RecordedUser("vp8", 0..<4, pattern: 1), RecordedUser("h264", 0..<4, camera: .init(.h264), pattern: 2),
            RecordedUser(
              "sizes", 0..<4,
              camera: .init(.h264, changes: [.init(at: 2, codec: .h264, size: .init(width: 640, height: 360))]),
              pattern: 3),
          ]))
        func path(_ name: String) -> String { recordings.appendingPathComponent(name).path }
        func output(_ name: String) -> URL { scenario.folder.appendingPathComponent(name) }
        for (input, name, options) in [
          ("h264.mkv", "h264.mp4", ["--audio", "aac"]), ("h264.mkv", "opus.mp4", []), ("vp8.webm", "vp8.mkv", []),
          ("h264.mkv", "h264.mov", ["--audio", "aac"]), ("sizes.mkv", "sizes.mkv", []),
        ] {
          let result = try await Self.run([path(input), "-o", output(name).path] + options, in: scenario)
          try #require(result.code == 0, "\(name): \(result.output)")
          let (one, other) = (try Self.frames(path(input)), try Self.frames(output(name).path))
          #expect(one == other && one.count > 100, "\(name)")
          let composed = try ComposedFile.read(output(name))
          let marks = try #require(composed.marks["0"])
          #expect(marks.count >= 3 && marks.highest - marks.lowest < 2, "\(name): \(marks)")
        }
        let sound = try await Self.run([path("vp8.webm"), "-o", output("vp8.wav").path], in: scenario)
        try #require(sound.code == 0, "\(sound.output)")
        let heard = try ComposedFile.read(output("vp8.wav"))
        #expect(heard.marks["0"] != nil && heard.strange == 0)
        for (input, name) in [("vp8.webm", "no.mp4"), ("sizes.mkv", "no.mp4"), ("h264.mkv", "no.webm")] {
          let refused = try await Self.run([path(input), "-o", output(name).path], in: scenario)
          #expect(refused.code != 0 && refused.output.contains("compose"), "\(input) to \(name): \(refused.output)")
          #expect(!FileManager.default.fileExists(atPath: output(name).path))
        }
      }
    }

    /// Returns the digests of the decoded frames of a file, by ffmpeg.
    private static func frames(_ path: String) throws -> [String] {
      let result = try ExternalTool.run(
        "ffmpeg",
        [
          "-v", "error", "-nostdin", "-i", path, "-map", "0:v", "-fps_mode", "passthrough", "-enc_time_base", "-1",
          "-f",
          "framemd5", "-",
        ])
      try #require(result.status == 0, "\(result.errors)")
      return result.output.split(separator: "\n").filter { !$0.hasPrefix("#") }
        .compactMap { $0.split(separator: ",").last.map { String($0.drop { $0 == " " }) } }
    }
  }
}
