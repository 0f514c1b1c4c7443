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

    @Test("everything received up to 1 s before a kill -9 is in the files, and they can be repaired")
    func killed() async throws {
      let recorders = 5
      let rounds = max(1, (Soak.crashes ?? 0) / recorders)
      var generator = SeededGenerator(seed: 9)
      for round in 1...rounds {
        let moments = (0..<recorders).map { _ in Double.random(in: 1...8, using: &generator) }
        try await Scenario.run("13 kill round \(round)", limit: .seconds(180)) { scenario in
          let killed = try await kill(after: moments, in: scenario)
          var files: [URL] = []
          _ = try await concurrently(Array(killed.indices)) { index in
            let name = "killed after \(String(format: "%.2f", moments[index])) s"
            try await judge(killed[index], name: name, in: scenario)
          }
          for one in killed {
            files += one.folder.files("webm") + one.folder.files("ogg")
          }
          try await repair(files, in: scenario)
          try await expectAdvice(in: scenario)
        }
      }
    }

    /// Starts a player and recorders, and kills each recorder at its moment, in seconds after the start of its recording.
    private func kill(after moments: [Double], in scenario: Scenario) async throws -> [Killed] {
      let server = try await scenario.server()
      let player = try await scenario.bot(
        in: "100", of: server, ["--play", BuiltProgram.sample.path, "--loop"], name: "player")
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
    private func judge(_ killed: Killed, name: String, in scenario: Scenario) async throws {
      let description = try #require(killed.folder.files("json").first)
      let manifest = try JSON(parsing: String(contentsOf: description, encoding: .utf8))
      #expect(manifest["finished"] == false)
      let length = try killed.at - #require(manifest.date("start"))
      // In the first 5 s, frames may still wait for the sender reports.
      let allowed = (length < 5 ? 3.0 : 1.0) + (await scenario.stall) / 1000
      guard killed.folder.files("webm").count == 1, killed.folder.files("ogg").count == 1 else {
        await scenario.note("measured: \(name): \(length) s after its start nothing was written yet")
        #expect(length < allowed, "\(name): files are there")
        return
      }
      let files = try UserFiles(describedBy: description)
      let recordings = files.webms + files.oggs
      if length < allowed && recordings.contains(where: { $0.streams.contains { $0.times.isEmpty } }) { return }
      for recording in recordings {
        #expect(try recording.decodingErrors() == "", "\(name): ffmpeg decodes \(recording.file.lastPathComponent)")
      }
      for webm in files.webms {
        #expect(try webm.matroska().isValid, "\(name): mkvinfo reads it")
        try expectUnbroken(webm.file, name)
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
      let videoStart = files.webms.compactMap { file in file.video.map { files.start(of: file) + $0.first } }.first
      let audioStart = files.oggs.compactMap { file in file.audio.map { files.start(of: file) + $0.first } }.first
      var missing: [String: Double] = [:]
      for recording in files.webms + files.oggs {
        for stream in recording.streams {
          let isVideo = stream.kind == "video"
          let source = try #require(isVideo ? census.mostlySent : census.source(ofPayloadType: 111))
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

    /// Checks that a recording of the sample contains its frames in order, without gaps.
    private func expectUnbroken(_ file: URL, _ name: String) throws {
      let recorded = try Recording.payloadDigests(of: file)
      guard let first = recorded.first else { return }
      let original = try Recording.payloadDigests(of: BuiltProgram.sample)
      let start = try #require(original.firstIndex(of: first), "\(name): the first frame is from the sample")
      let expected = recorded.indices.map { original[(start + $0) % original.count] }
      #expect(recorded == expected, "\(name): the frames are those of the sample, in order")
    }

    /// Repairs files with `chatbot repair` and checks that they are like properly closed ones.
    private func repair(_ files: [URL], in scenario: Scenario) async throws {
      let before = try files.filter { $0.pathExtension == "webm" }.map { ($0, try Recording.payloadDigests(of: $0)) }
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
