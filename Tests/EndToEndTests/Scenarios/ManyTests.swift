import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// A room with many publishers of one process.
  @Suite("load of publishers") struct ManyTests {
    @Test("twenty publishers are all connected and recorded, and every recording decodes")
    func recorded() async throws {
      try await Scenario.run("20 a load of publishers") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "full", of: server, ["--record", folder.path], name: "recorder")
        let small = try Self.smallFile(in: scenario.folder)
        let load = try await scenario.bot(
          "load",
          [
            "load", "--server", server.address, "--room", "full", "--publishers", "20", "--ramp", "10/s",
            "--play", small.path, "--duration", "6s", "--json", "--quiet",
          ])
        #expect(try await load.ending(within: .seconds(30)) == .exit(0))
        let report = try JSON(parsing: load.output)
        let times = report["connectTime"]
        await scenario.note(
          "measured: connected in \(times["median"].double ?? .nan) ms, 95 % within \(times["p95"].double ?? .nan) ms")
        #expect(report["connected"] == 20)
        try SignallingOutcomes.append(.skyRTC, .load, .passed)
        #expect(report["lost"]["packets"] == 0, .onQuietMachine("no socket overflows"))
        #expect(try await recorder.terminate().ending == .exit(0))
        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 20)
        for userRecording in userRecordings {
          let tracks = userRecording.manifest["tracks"].list
          let video = try #require(tracks.first { $0["kind"] == "video" })
          let audio = try #require(tracks.first { $0["kind"] == "audio" })
          #expect(video["decodeErrors"] == 0)
          #expect(audio["decodeErrors"] == 0)
          #expect(video["lost"] == 0, .onQuietMachine("no socket overflows"))
          #expect(video["dropped"].int ?? 2 <= 1, .onQuietMachine("the last frame may be cut off by the leave"))
          #expect(video["frames"].int ?? 0 > 60, .onQuietMachine("more than 4 s"))
        }
      }
    }

    @Test("a load without a receiver is reported with its own exit code")
    func alone() async throws {
      try await Scenario.run("20b a load without a receiver") { scenario in
        let server = try await scenario.server()
        let load = try await scenario.bot(
          "load",
          [
            "load", "--server", server.address, "--room", "empty", "--publishers", "3", "--play",
            BuiltProgram.sample.path, "--duration", "500ms", "--json",
          ])
        #expect(try await load.ending(within: .seconds(15)) == .exit(75))
        #expect(load.output.contains("\"connected\" : 0"), "publishers of one process do not call each other")
        #expect(load.output.contains("\"joined\" : 3"))
      }
    }

    @Test("three receiving publishers call each other, and each receives what the others send")
    func receiving() async throws {
      try await Scenario.run("20c a load that receives") { scenario in
        let server = try await scenario.server()
        let load = try await scenario.bot(
          "load",
          [
            "load", "--server", server.address, "--room", "mutual", "--publishers", "3", "--receive", "--play",
            BuiltProgram.sample.path, "--duration", "3s", "--data", "100k", "--json", "--quiet",
          ])
        #expect(try await load.ending(within: .seconds(20)) == .exit(0))
        let report = try JSON(parsing: load.output)
        #expect(report["connected"] == 3)
        #expect(report["connections"] == 6, "each publisher has two")
        let frames = report["received"]["frames"].int ?? 0
        #expect(frames > 6 * 2 * 60, "video and audio of two others for at least two seconds")
        let data = report["data"]
        #expect(data["opened"] == 6, "each publisher has opened a data channel to two others")
        #expect(data["lost"] == 0)
        #expect(data["disordered"] == 0)
        #expect(data["returned"].int ?? 0 > 6 * 12, "1,000 bytes 12 times a second for at least a second")
      }
    }

    /// Creates a video of 320x240 at 15 frames a second and 150 kb/s: a debug build must send, receive and decode
    /// twenty of them on two cores.
    private static func smallFile(in folder: URL) throws -> URL {
      let file = folder.appendingPathComponent("small.webm")
      let made = try ExternalTool.run(
        "ffmpeg",
        [
          "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=15:duration=4,format=yuv420p",
          "-f", "lavfi", "-i", "aevalsrc=exprs='0.3*sin(2*PI*440*t)':sample_rate=48000:duration=4",
          "-c:v", "libvpx", "-b:v", "150k", "-deadline", "realtime", "-auto-alt-ref", "0", "-lag-in-frames", "0",
          "-g", "15", "-c:a", "libopus", "-b:a", "32k", file.path,
        ])
      guard made.status == 0 else { throw FakeCamera.NotMade(errors: made.errors) }
      return file
    }
  }
}
