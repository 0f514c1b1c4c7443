import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Recorders that are killed while recording.
  @Suite("a killed recorder") struct CrashTests {
    /// One killed recorder.
    struct Killed: Sendable {
      let folder: RecordingFolder
      /// The time of the kill, in seconds since 1970.
      let at: Double
      /// The relay that saw all packets for the recorder.
      let relay: LossyRelay
    }

    /// What is recorded.
    struct Played: Sendable, CustomTestStringConvertible {
      let name: String
      /// The ending of the files with video.
      let ending: String

      var testDescription: String { name }

      static let vp8 = Played(name: "VP8", ending: "webm")
      static let h264 = Played(name: "H.264 of changing sizes", ending: "mkv")

      /// Returns the file that is played, which is made in `folder` unless it is the sample.
      func file(in folder: URL) throws -> URL {
        ending == Self.vp8.ending ? BuiltProgram.sample : try Self.makeChangingFile(in: folder)
      }

      /// Makes 4 s of H.264 of which the second half has another size, beside Opus.
      private static func makeChangingFile(in folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        func run(_ arguments: [String]) throws {
          let result = try ExternalTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments)
          try #require(result.status == 0, "ffmpeg \(arguments): \(result.errors)")
        }
        var stream = Data()
        for size in ["320x240", "480x272"] {
          let part = folder.appendingPathComponent("\(size).h264")
          try run([
            "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30:duration=2", "-c:v", "libx264", "-pix_fmt", "yuv420p",
            "-profile:v", "baseline", "-g", "30", "-b:v", "300k", part.path,
          ])
          stream += try Data(contentsOf: part)
        }
        let video = folder.appendingPathComponent("video.h264")
        try stream.write(to: video)
        let file = folder.appendingPathComponent("changing.mkv")
        try run([
          "-r", "30", "-i", video.path, "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=4",
          "-c:v", "copy", "-c:a", "libopus", file.path,
        ])
        return file
      }
    }

    @Test(
      "everything received up to 1 s before a kill -9 is in the files, and they can be repaired",
      arguments: [Played.vp8, .h264])
    func killed(_ played: Played) async throws {
      let recorders = 5
      // `make crashes` kills half of its recorders with each of the two.
      let rounds = max(1, (Soak.crashes ?? 0) / 2 / recorders)
      var generator = SeededGenerator(seed: 9)
      for round in 1...rounds {
        let moments = (0..<recorders).map { _ in Double.random(in: 1...8, using: &generator) }
        try await Scenario.run("13 kill round \(round) of \(played.name)", limit: .seconds(180)) { scenario in
          let original = try played.file(in: scenario.folder.appendingPathComponent("played"))
          let killed = try await kill(after: moments, playing: original, in: scenario)
          var files: [URL] = []
          _ = try await concurrently(Array(killed.indices)) { index in
            let name = "killed after \(String(format: "%.2f", moments[index])) s"
            try await judge(killed[index], of: played, original: original, name: name, in: scenario)
          }
          for one in killed {
            files += one.folder.files(played.ending) + one.folder.files("ogg")
          }
          try await repair(files, of: played, in: scenario)
          if played.ending == Played.vp8.ending { try await expectAdvice(in: scenario) }
        }
      }
    }

    /// The payload type with which a bot sends Opus.
    private static let opus: UInt8 = 111

    /// Starts a player and recorders, and kills each recorder at its moment, in seconds after the start of its recording.
    private func kill(after moments: [Double], playing file: URL, in scenario: Scenario) async throws -> [Killed] {
      let server = try await scenario.server()
      let player = try await scenario.bot(
        in: "100", of: server, ["--play", file.path, "--loop"], name: "player")
      let killed = try await withThrowingTaskGroup(of: (Int, Killed).self) { group in
        for (index, moment) in moments.enumerated() {
          let folder = await scenario.recordings("recordings \(index)")
          let relay = try await scenario.relay(to: server, seed: 13)
          let bot = try await scenario.bot(
            in: "100", of: server, via: relay, ["--record", folder.path], name: "recorder \(index)")
          group.addTask {
            try await eventually("recording \(index)", within: .seconds(20), every: .milliseconds(10)) {
              folder.files("json").first
            }
            try await sleepOnEventLoop(for: .seconds(moment))
            let time = Date().timeIntervalSince1970
            bot.process.signal(SIGKILL)
            #expect(try await bot.ending(within: .seconds(5)) == .signal(SIGKILL))
            return (index, Killed(folder: folder, at: time, relay: relay))
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      #expect(player.isRunning)
      return moments.indices.compactMap { killed[$0] }
    }

    /// Checks a killed recorder's files: other programs read them, and little of the received media is missing.
    private func judge(
      _ killed: Killed, of played: Played, original: URL, name: String, in scenario: Scenario
    ) async throws {
      let description = try #require(killed.folder.files("json").first)
      let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
      #expect(manifest["finished"] == false)
      let length = try killed.at - #require(manifest.date("start"))
      // In the first 5 s, frames may still wait for the sender reports.
      let allowed = (length < 5 ? 3.0 : 1.0) + (await scenario.stall) / 1000
      guard killed.folder.files(played.ending).count == 1, killed.folder.files("ogg").count == 1 else {
        await scenario.note("measured: \(name): \(length) s after its start nothing was written yet")
        #expect(length < allowed, "\(name): files are there")
        return
      }
      let files = try UserFiles(describedBy: description)
      let recordings = files.webms + files.mkvs + files.oggs
      if length < allowed && recordings.contains(where: { $0.streams.contains { $0.times.isEmpty } }) { return }
      for recording in recordings {
        #expect(try recording.decodingErrors() == "", "\(name): ffmpeg decodes \(recording.file.lastPathComponent)")
      }
      for video in files.webms + files.mkvs {
        #expect(try video.matroska().isValid, "\(name): mkvinfo reads it")
        try expectUnbroken(video.file, as: original, name)
      }
      let census = try #require(await killed.relay.census(of: manifest["user"].string ?? ""))
      let missing = try missing(of: files, that: census, at: killed.at)
      for (what, lost) in missing { #expect(lost <= allowed, "\(name): \(what) lacks \(lost) s before the kill") }
      await scenario.note(
        String(
          format: "measured: %@: %.2f s after its start; at most %.2f s of the received media is missing", name, length,
          missing.values.max() ?? length))
    }

    /// For each stream, returns how many seconds before `moment` the first frame passed that is missing in its file.
    private func missing(
      of files: UserFiles, that census: RTPCensus, at moment: Double
    ) throws -> [String: Double] {
      // The first frame of each track is in its first file.
      let videos = files.webms + files.mkvs
      let videoStart = videos.compactMap { file in file.video.map { files.start(of: file) + $0.first } }.first
      let audioStart = files.oggs.compactMap { file in file.audio.map { files.start(of: file) + $0.first } }.first
      var missing: [String: Double] = [:]
      for recording in videos + files.oggs {
        for stream in recording.streams {
          let isVideo = stream.kind == "video"
          let source = try #require(
            isVideo ? census.mostlySent(otherThan: Self.opus) : census.source(ofPayloadType: Self.opus))
          let zero = try #require(isVideo ? videoStart : audioStart)
          let last = try files.start(of: recording) + #require(stream.times.last) - zero
          let begun = try #require(source.frames.first).timestamp
          let rate = isVideo ? 90_000.0 : 48_000.0
          let next = source.frames.first { Double($0.timestamp &- begun) / rate > last + 0.015 }
          missing["\(stream.kind) of \(recording.file.pathExtension)"] = next.map { max(0, moment - $0.passedAt) } ?? 0
        }
      }
      return missing
    }

    /// Checks that a recording of a file that is played contains its frames in order, without gaps.
    private func expectUnbroken(_ file: URL, as played: URL, _ name: String) throws {
      let recorded = try Recording.payloadDigests(of: file)
      guard let first = recorded.first else { return }
      let original = try Recording.payloadDigests(of: played)
      let start = try #require(original.firstIndex(of: first), "\(name): the first frame is from the file")
      let expected = recorded.indices.map { original[(start + $0) % original.count] }
      #expect(recorded == expected, "\(name): the frames are those of the file, in order")
    }

    /// Repairs files with `chatbot repair` and checks that they are like properly closed ones.
    private func repair(_ files: [URL], of played: Played, in scenario: Scenario) async throws {
      let videos = files.filter { $0.pathExtension == played.ending }
      let before = try videos.map { ($0, try Recording.payloadDigests(of: $0)) }
      let bot = try await scenario.bot("repair", ["repair"] + files.map(\.path))
      try #require(try await bot.ending(within: .seconds(30)) == .exit(0), "the output is \(bot.output)")
      for (file, digests) in before where !digests.isEmpty {
        let recording = try Recording(file)
        let matroska = try recording.matroska()
        let video = try #require(recording.video)
        #expect(matroska.isValid && matroska.hasCues && matroska.hasDuration && matroska.hasSeekHead)
        #expect(abs(recording.duration - recording.streams.compactMap(\.times.last).reduce(0, max)) < 0.1)
        #expect(try recording.decodingErrors() == "")
        #expect(try Recording.payloadDigests(of: file) == digests, "repairing changes no frame")
        // Players can seek to the last keyframe.
        let target = zip(video.times, video.keyframes).reversed().first { $0.1 }?.0 ?? 0
        #expect(try recording.firstVideoFrameTime(from: target) == target, "players can seek to \(target) s")
      }
    }

    /// Checks that recording into a folder with unfinished files prints how to repair them.
    private func expectAdvice(in scenario: Scenario) async throws {
      let unfinished = await scenario.recordings("unfinished")
      try FileManager.default.createDirectory(at: unfinished.url, withIntermediateDirectories: true)
      let server = try await scenario.server()
      _ = try await scenario.bot(
        in: "101", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player 2")
      let crashing = try await scenario.bot(in: "101", of: server, ["--record", unfinished.path], name: "crashing")
      let file = try await eventually("recording", within: .seconds(20)) { unfinished.files("webm").first }
      try await sleepOnEventLoop(for: .seconds(1))
      crashing.process.signal(SIGKILL)
      _ = try await crashing.ending(within: .seconds(5))
      let name = file.deletingPathExtension().lastPathComponent
      let next = try await scenario.bot(in: "102", of: server, ["--record", unfinished.path], name: "next")
      try await eventually("advice", within: .seconds(5)) {
        next.output.contains("chatbot repair") && next.output.contains(name) ? true : nil
      }
    }
  }
}
