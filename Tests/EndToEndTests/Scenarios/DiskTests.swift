import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// A disk that is too small for the recording.
  @Suite("a full disk") struct DiskTests {
    @Test("the call continues, the user is notified, recording resumes, and memory stays bounded")
    func fullInMidCall() async throws {
      try await Scenario.run("14 the disk is full for a while") { scenario in
        let disk = try await scenario.smallDisk(megabytes: 24)
        let folder = RecordingFolder(url: disk.url)
        let server = try await scenario.server()
        let player = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
        let bot = try await scenario.bot(in: "100", of: server, on: disk, ["--record", disk.path])
        try await eventually("recording", within: .seconds(10)) { folder.files("webm").first }
        try await sleepOnEventLoop(for: .seconds(3))
        let before = try #require(ProcessFigures(of: bot.process.id))
        let saidBefore = bot.output.count
        try disk.fill()
        let fullAt = Date().timeIntervalSince1970
        var most = before.memory
        for _ in 0..<12 {
          try await sleepOnEventLoop(for: .milliseconds(500))
          most = max(most, ProcessFigures(of: bot.process.id)?.memory ?? 0)
        }
        let reported = String(bot.output.dropFirst(saidBefore))
        try disk.makeRoom()
        let roomAt = Date().timeIntervalSince1970
        try await sleepOnEventLoop(for: .seconds(4))
        let asked = Date().timeIntervalSince1970
        #expect(player.isRunning && bot.isRunning)
        #expect(!bot.output.contains("call ended"), "the call continues")
        let ending = try await bot.terminate().ending
        #expect(ending == .exit(0), "nothing is missing")
        #expect(reported.localizedCaseInsensitiveContains("space"), "the user is notified; the output is \(reported)")
        #expect(most - before.memory < 32 + 8, "the memory for waiting data is 34 MiB")
        let description = try #require(folder.files("json").first)
        let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
        #expect(manifest["finished"] == true)
        let start = try #require(manifest.date("start"))
        for file in folder.files("webm") + folder.files("ogg") {
          let recording = try Recording(file)
          #expect(try recording.decodingErrors() == "")
          let offset =
            manifest["files"].list.first { $0["name"].string == file.lastPathComponent }?["start"].double ?? 0
          let times = recording.streams.flatMap(\.times).map { $0 + start + offset }
          if file == folder.files(file.pathExtension).last {
            let end = try #require(times.max())
            #expect(end > asked - 1, "\(file.pathExtension): recording resumed and continued to the end")
          }
        }
        let times = try folder.files("webm").flatMap { file in
          let offset = manifest["files"].list.first { $0["name"].string == file.lastPathComponent }?["start"].double
          return try (Recording(file).video?.times ?? []).map { $0 + start + (offset ?? 0) }
        }
        let videoFrames = times.count
        let whileFull = times.count { (fullAt..<roomAt).contains($0) }
        let expected = 30 * (asked - start)
        await scenario.note(
          String(
            format: """
              measured: full for %.1f s; %d frames of %.0f recorded, %d of them while it was full; memory %.1f MiB \
              before, at most %.1f meanwhile; %@
              """,
            roomAt - fullAt, videoFrames, expected, whileFull, before.memory, most, "\(ending)"))
        // One second for the call's first and last frames, and half a second for each change.
        #expect(Double(videoFrames) > expected - 30, .onQuietMachine("nothing is missing"))
        #expect(
          Double(whileFull) > 30 * (roomAt - fullAt) - 15,
          .onQuietMachine("nothing is missing of what arrived while the disk was full"))
        #expect(manifest["disk"]["framesDropped"].int ?? 0 == 0 && manifest["disk"]["packetsDropped"].int ?? 0 == 0)
      }
    }

    @Test("the exit code reports a disk that stays full, and written files are closed with duration and cues")
    func fullAtTheEnd() async throws {
      try await Scenario.run("14b the disk stays full") { scenario in
        let disk = try await scenario.smallDisk(megabytes: 8)
        let folder = RecordingFolder(url: disk.url)
        let server = try await scenario.server()
        _ = try await scenario.bot(
          in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
        let bot = try await scenario.bot(in: "100", of: server, on: disk, ["--record", disk.path])
        try await eventually("recording", within: .seconds(10)) { folder.files("webm").first }
        try await sleepOnEventLoop(for: .seconds(5))
        let begun = Date().timeIntervalSince1970
        try disk.fill()
        try await sleepOnEventLoop(for: .seconds(2))
        let end = try await bot.terminate(within: .seconds(20))
        await scenario.note("measured: ended after \(end.after.inSeconds) s with \(end.ending)")
        #expect(end.ending == .exit(BadInputTests.Code.disk))
        let description = try #require(folder.files("json").first)
        let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
        let start = try #require(manifest.date("start"), "the manifest is complete")
        #expect(manifest["finished"] == true && manifest["files"].list.allSatisfy { $0["complete"] == true })
        #expect(manifest["disk"]["framesDropped"].int ?? 0 > 0)
        for file in folder.files("webm") {
          let about = try ExternalTool.run("mkvinfo", ["-a", file.path]).output
          #expect(about.contains("+ Cues") && about.contains("+ Duration"), "\(about)")
        }
        for file in folder.files("webm") + folder.files("ogg") {
          let recording = try Recording(file)
          #expect(try recording.decodingErrors() == "")
          let last = try #require(recording.streams.flatMap(\.times).max())
          #expect(last > begun - start - 1.5, .onQuietMachine("written data remains"))
        }
      }
    }
  }
}
