import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// The programs in `Examples`, which use the libraries like any other package.
  @Suite("examples") struct ExamplesTests {
    @Test("an echo bot echoes a fake camera and a recorder records it, each a program of a few dozen lines")
    func room() async throws {
      try await Scenario.run("19 examples") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        func example(_ name: String, _ arguments: String...) async throws -> ChildProcess {
          let program = BuiltProgram.folder.appendingPathComponent(name).path
          return try await scenario.program(name, [program, server.address, "examples"] + arguments)
        }
        let camera = try await example("FakeCamera", BuiltProgram.sample.path, "12")
        let echo = try await example("EchoBot", "9")
        let recorder = try await example("RecordRoom", folder.path, "7")
        #expect(try await recorder.ending(within: .seconds(20)) == .exit(0))
        #expect(try await echo.ending(within: .seconds(20)) == .exit(0))
        #expect(try await camera.ending(within: .seconds(20)) == .exit(0))

        let file = try #require(folder.files("webm").first)
        #expect(recorder.output.contains(file.lastPathComponent))
        let probe = try ExternalTool.run(
          "ffprobe",
          [
            "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames", "-of", "csv=p=0",
            file.path,
          ])
        #expect(probe.errors.isEmpty, "\(probe.errors)")
        let frames = probe.output.split(separator: "\n").compactMap { line in
          line.hasPrefix("vp8,") ? Int(line.dropFirst(4)) : nil
        }
        #expect(frames.first ?? 0 >= 30, "\(probe.output)")
        #expect(echo.output.contains(/Sent [1-9][0-9]* frames back\./), "\(echo.output)")
        #expect(camera.output.contains("Played"), "\(camera.output)")
      }
    }

    @Test("two programs call each other through a folder, with a signalling client of 60 lines")
    func folder() async throws {
      try await Scenario.run("19 folder call") { scenario in
        let folder = scenario.folder.appendingPathComponent("signalling")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let program = BuiltProgram.folder.appendingPathComponent("FolderCall").path
        let callee = try await scenario.program("callee", [program, folder.path, "5"])
        let caller = try await scenario.program("caller", [program, folder.path, "6", BuiltProgram.sample.path])
        #expect(try await callee.ending(within: .seconds(20)) == .exit(0))
        #expect(try await caller.ending(within: .seconds(20)) == .exit(0))
        let received = callee.output.firstMatch(of: /Received ([0-9]+) frames\./).flatMap { Int($0.1) }
        #expect(received ?? 0 >= 60, "\(callee.output)")
      }
    }
  }
}
