import Foundation
import Media
import NIOHTTP1
import NetworkEmulation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Pauses of a job over a bad network. The pattern says when each frame was painted, and its audio which second it is.
  @Suite("a service whose jobs are paused") struct ServicePauseTests {
    private static let size = VideoSize(width: 160, height: 120)
    private static let pattern = ["--play", "pattern", "--size", "160x120", "--fps", "15"]
    /// What is this near to the beginning or the end of a pause may be recorded, in seconds.
    private static let margin = 0.2
    /// The length of a mark in the audio, in seconds.
    private static let markLength = 0.22

    /// The name of the user who plays a file of speech: Opus with copies of lost packets (FEC).
    private static let speaker = "speaker"

    /// A pause of some users, in seconds since 1970.
    private struct Pause: Sendable {
      /// The ids; nil for everybody.
      let users: [String]?
      let start: Double
      let end: Double

      func applies(to user: String) -> Bool { users?.contains(user) ?? true }

      /// Whether something at a time, and for a length, is of the pause for certain.
      func contains(_ time: Double, for length: Double = 0) -> Bool {
        time > start + margin && time + length < end - margin
      }
    }

    @Test("of random pauses of users and rooms nothing is in any file, with loss, FEC and a kill in a pause")
    func random() async throws {
      let count = ServiceTestForm.count(short: 5, whole: 30)
      try await Scenario.run("85 paused job", limit: .seconds(90 + count * 6)) { scenario in
        let server = try await scenario.server()
        let relay = try await scenario.relay(to: server, seed: 85)
        let service = try await RunningService.start(
          scenario, servers: ["main": Server(bot: server.bot, port: await relay.port)])
        for number in 1...2 {
          // Users of one name would be paused together after the kill, since one of them may have come back under another id.
          let name = "player \(number)"
          _ = try await scenario.bot(in: "100", of: server, Self.pattern + ["--name", name], name: name)
        }
        // The encoder of the pattern uses no mode of Opus that has copies. A file is sent as it is.
        let speech = scenario.folder.appendingPathComponent("speech.ogg")
        try RecordedPattern.makeSpeech(
          speech, from: Int(Date().timeIntervalSince1970), seconds: ServiceTestForm.count(short: 90, whole: 240))
        _ = try await scenario.bot(
          in: "100", of: server, ["--play", speech.path, "--once", "--name", Self.speaker], name: Self.speaker)
        let job = try await service.submit(
          #"{"kind": "record", "room": "100", "record": {"audioRedundancy": false}}"#)
        try await service.wait(job, for: "running")
        try await service.receives(job, users: 3)
        await relay.impair(.init(loss: 0.05, reorder: 0.05))
        try await sleepOnEventLoop(for: .seconds(3))
        let ids = try await service.send(.GET, "/v1/jobs/\(job)/live").json["users"].list
          .compactMap { $0["user"].string }.sorted()
        try #require(ids.count == 3)
        let choices: [[String]?] = [
          nil, nil, [ids[0]], [ids[1]], [ids[2]], Array(ids.prefix(2)), Array(ids.suffix(2)),
        ]
        let begun = Date().timeIntervalSince1970
        var pauses: [Pause] = []
        for number in 1...count {
          let users = choices.randomElement() ?? nil
          let isKilled = number == (count + 1) / 2
          pauses.append(try await Self.pause(users, job, isKilled: isKilled, service, scenario))
          try await sleepOnEventLoop(for: .milliseconds(Int.random(in: 1_500...2_500)))
        }
        // What a reader of the folder sees while the job runs.
        let copy = scenario.folder.appendingPathComponent("folder")
        try Self.copy(service.data.appendingPathComponent("jobs/\(job)"), to: copy)
        try await service.stop(job)
        try await service.wait(job, for: "finished", within: .seconds(60))

        let recording = try StoredRecording(of: job, in: service)
        try recording.expectWhole()
        try recording.expectDecodable()
        #expect(recording.document["attempts"].list.count == 2)
        #expect(recording.users.compactMap { $0["id"].string }.sorted() == ids)
        for user in recording.users {
          try await Self.judge(user, of: recording, pauses, near: begun + 70, copy, scenario)
        }
        let types = try await service.allEvents(job).compactMap { $0["type"].string }
        #expect(types.count { $0 == "recording.paused" } == count)
        #expect(types.count { $0 == "recording.resumed" } == count)
        #expect(try await service.end(SIGTERM) == .exit(0))
        await service.forgetProcesses()
      }
    }

    /// Pauses and resumes users.
    ///
    /// - Parameters:
    ///   - users: their ids; nil for everybody.
    ///   - isKilled: whether the process gets SIGKILL meanwhile.
    private static func pause(
      _ users: [String]?, _ job: String, isKilled: Bool, _ service: RunningService, _ scenario: Scenario
    ) async throws -> Pause {
      let body = try users.map { try JSON.object(["users": .list($0.map { .string($0) })]).text }
      let asked = Date().timeIntervalSince1970
      let paused = try await service.send(.POST, "/v1/jobs/\(job)/pause", body)
      let took = Date().timeIntervalSince1970 - asked
      let stall = await scenario.stall / 1_000
      #expect(paused.status == 200 && paused.json["done"] == true)
      let start = try #require(paused.json.date("effectiveAt"))
      #expect(start < asked + 1 + stall && took < 1.5 + stall, .onQuietMachine("a pause is in effect within 1 s"))
      try await sleepOnEventLoop(for: .milliseconds(Int.random(in: 600...2_600)))
      if isKilled {
        kill(try await service.process(of: job), SIGKILL)
        try await service.wait(job, for: "running", attempt: 2)
        let live = try await eventually("users after the kill", within: .seconds(20)) {
          let live = try await service.send(.GET, "/v1/jobs/\(job)/live").json
          return live["users"].list.count { ($0["counts"]["frames"].int ?? 0) > 20 } == 3 ? live : nil
        }
        for user in live["users"].list {
          let isPaused = users?.contains(user["user"].string ?? "") ?? true
          #expect(user["isPaused"].bool == isPaused, "a kill ends no pause")
        }
      }
      let resumed = try await service.send(.POST, "/v1/jobs/\(job)/resume", body)
      #expect(resumed.status == 200 && resumed.json["done"] == true)
      return Pause(users: users, start: start, end: try #require(resumed.json.date("effectiveAt")))
    }

    /// Copies the files of media and their descriptions.
    private static func copy(_ folder: URL, to copy: URL) throws {
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.contains("/media/") {
        let target = copy.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: folder.appendingPathComponent(path), to: target)
      }
    }

    private static func judge(
      _ user: JSON, of recording: StoredRecording, _ pauses: [Pause], near: Double, _ copy: URL, _ scenario: Scenario
    ) async throws {
      let id = user["id"].string ?? ""
      let name = user["name"].string ?? ""
      let own = pauses.filter { $0.applies(to: id) }
      let stall = await scenario.stall / 1_000
      let videos = recording.files(of: user, "webm")
      let audio = recording.files(of: user, "ogg")
      // One file for each process that recorded the user.
      #expect((1...2).contains(audio.count))
      let isSpeaker = name == speaker
      #expect(isSpeaker ? videos.isEmpty : videos.count == audio.count)

      if !isSpeaker {
        let frames = try recording.frames(of: user, size: size, scratch: scenario.folder)
        for pause in own {
          let inside = frames.filter { pause.contains($0.time) }
          #expect(inside.isEmpty, "\(name): \(inside) of the pause from \(pause.start) to \(pause.end)")
        }
        try recording.expectEveryFrame(of: user, size: size, tolerance: 0.5 + stall, scratch: scenario.folder)
      }
      // How much later than it says a mark was sent: the file of the speaker was played later than it was made.
      var delay = 0.0
      if isSpeaker {
        let first = try #require(user["files"].list.first?.date("start"))
        let mark = try #require(try RecordedPattern.marks(in: audio[0], near: near, scratch: scenario.folder).first)
        delay = first + mark.position - mark.second
      }
      var copies = 0
      for file in videos + audio {
        let sounding = try RecordedPattern.markedSeconds(in: file, near: near, scratch: scenario.folder)
        let copied =
          isSpeaker ? try RecordedPattern.copiedSeconds(in: file, near: near, scratch: scenario.folder) : []
        copies += copied.count
        for pause in own {
          for (what, seconds) in [("decoded", sounding), ("copied", copied)] {
            let heard = seconds.filter { pause.contains($0 + delay, for: markLength) }
            let about = "\(name): marks of a pause in the \(what) audio of \(file.lastPathComponent)"
            // A speaker who is late says later when a file was made.
            #expect(heard.isEmpty, isSpeaker ? .onQuietMachine(about) : Comment(rawValue: about))
          }
        }
        await scenario.note(
          "measured: \(name): \(sounding.count) marks, \(copied.count) in copies, in \(file.lastPathComponent)")
      }
      #expect(!isSpeaker || copies > 0, "packets of speech carry copies")
      // The files of the folder as they were while the job ran.
      for manifest in try FileManager.default.subpathsOfDirectory(atPath: copy.path) where manifest.hasSuffix(".json") {
        let file = copy.appendingPathComponent(manifest)
        guard try JSON(parsing: String(contentsOf: file, encoding: .utf8))["user"].string == id else { continue }
        let video = file.deletingPathExtension().appendingPathExtension("webm")
        guard FileManager.default.fileExists(atPath: video.path) else { continue }
        let frames = try RecordedPattern.frames(in: video, size: size, scratch: scenario.folder)
        #expect(
          !frames.isEmpty && !frames.contains { frame in own.contains { $0.contains(frame.time) } }, "\(manifest)")
      }

      for kind in isSpeaker ? ["audio"] : ["video", "audio"] {
        let gaps = recording.gaps(of: user, kind, "paused")
        // Without a frame between two pauses they have one gap.
        #expect(gaps.count == own.count, .onQuietMachine("\(name), \(kind): \(gaps) for \(own)"))
        guard gaps.count == own.count else { continue }
        for (gap, pause) in zip(gaps, own) {
          // Frames that wait for a lost packet when the pause begins may never be complete.
          let early = kind == "video" ? 1.2 : 0.4
          #expect(
            gap.start > pause.start - early - stall, .onQuietMachine("\(name), \(kind): \(gap) for \(pause)"))
          #expect(gap.start < pause.start + 0.4 + stall, "\(name), \(kind): \(gap) for \(pause)")
          #expect(gap.end > pause.end - 0.4 - stall, "\(name), \(kind): \(gap) for \(pause)")
          // A keyframe may have to be sent twice.
          #expect(
            gap.end < pause.end + 1.5 + stall, .onQuietMachine("\(name), \(kind): what follows a pause is recorded"))
        }
      }
    }
  }
}
