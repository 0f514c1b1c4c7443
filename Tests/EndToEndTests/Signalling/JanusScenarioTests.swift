import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Rooms of a real Janus server.
  @Suite(
    "rooms of a Janus server",
    .enabled(if: JanusProcess.isInstalled || Machine.isCI, Comment(rawValue: JanusProcess.isMissing)))
  struct JanusScenarioTests {
    @Test("what a bot publishes is checked by another one, and recorded under the name of the publisher")
    func publishing() async throws {
      try await Scenario.run("31 Janus") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let anna = try await scenario.bot(
          "anna", at: janus.address, inRoom + ["--user", "Anna"] + Scenario.smallPattern)
        let recorder = try await scenario.bot("recorder", at: janus.address, inRoom + ["--record", folder.path])
        try await scenario.connected(recorder)
        let check = try await scenario.check(
          at: janus.address, inRoom + Scenario.smallPattern + ["--content", "pattern"])
        try await SignallingOutcomes.record(.janus, .check) { try await scenario.expectHeld(check) }
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await anna.terminate().ending == .exit(0))
        try await SignallingOutcomes.record(.janus, .record, .play) {
          let recording = try #require(try folder.userRecordings().first { $0.manifest["name"] == "Anna" })
          try #require(recording.webm.file.lastPathComponent == "Anna.webm")
          try await scenario.expectGood(recording, seconds: 4, name: "Anna")
        }
      }
    }

    @Test("a wrong PIN ends the bot with exit code 69 and one sentence, and the right one does not")
    func pins() async throws {
      try await Scenario.run("31b Janus PIN") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let arguments = ["--room", "5678", "--record", await scenario.recordings().path]
        let refused = try await scenario.start(
          "refused", ["--server", janus.address] + arguments, environment: ["CHATBOT_PIN": "wrong"])
        try await scenario.expectRefusal(refused, code: 69, saying: "PIN")
        let admitted = try await scenario.bot(
          "admitted", at: janus.address, arguments, environment: ["CHATBOT_PIN": "let-me-in"])
        #expect(!admitted.output.contains("let-me-in"), "the PIN is not logged")
      }
    }

    @Test("a room that does not accept our codec ends the publisher with exit code 69 and the server's words")
    func otherCodec() async throws {
      try await Scenario.run("31f Janus codec") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let refused = try await scenario.start(
          "refused", ["--server", janus.address, "--room", "2640", "--duration", "60s"] + Scenario.smallPattern)
        try await scenario.expectRefusal(refused, code: 69, saying: "codec unavailable in this room")
      }
    }

    @Test("H.264 is published in a room that allows nothing else, and recorded from it")
    func h264() async throws {
      try await Scenario.run("31g Janus H.264") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let room = ["--room", "2640"]
        let publisher = try await scenario.bot(
          "publisher", at: janus.address, room + Scenario.smallPattern + ["--send-codec", "h264"])
        let recorder = try await scenario.bot("recorder", at: janus.address, room + ["--record", folder.path])
        try await scenario.connected(recorder)
        try await sleepOnEventLoop(for: .seconds(5))
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let video = recorded.track("video")
        await scenario.note("measured: \(video["frames"].int ?? 0) frames of \(video["codecs"].list)")
        #expect(video["codec"] == "h264" && video["decodeErrors"] == 0 && video["lost"] == 0)
        #expect((video["frames"].int ?? 0) > 40)
        for file in recorded.videos { #expect(try file.decodingErrors() == "") }
      }
    }

    @Test("publisher and recorder are back within 5 s after Janus was killed and started again")
    func restart() async throws {
      try await Scenario.run("31c Janus restart") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let anna = try await scenario.bot(
          "anna", at: janus.address, inRoom + ["--user", "Anna"] + Scenario.smallPattern)
        let recorder = try await scenario.bot("recorder", at: janus.address, inRoom + ["--record", folder.path])
        try await scenario.connected(recorder)
        try await sleepOnEventLoop(for: .seconds(3))
        try await janus.kill()
        _ = try await janus.restarted(in: scenario)
        let restarted = ContinuousClock.now
        try await scenario.joined(anna, times: 2)
        try await scenario.joined(recorder, times: 2)
        let joined = ContinuousClock.now - restarted
        try await scenario.connected(recorder, times: 2)
        await scenario.note("measured: joined \(joined.formatted(.units(allowed: [.seconds, .milliseconds]))) later")
        #expect(joined < .seconds(5 + (await scenario.stall) / 1000))
        // The first keyframe may take some requests.
        try await sleepOnEventLoop(for: .seconds(5))
        #expect(try await recorder.terminate().ending == .exit(0))
        let recordings = try folder.userRecordings()
        #expect(recordings.map { $0.webm.file.lastPathComponent } == ["Anna-2.webm", "Anna.webm"])
        for recording in recordings {
          try await scenario.expectGood(recording, seconds: 2, name: recording.webm.file.lastPathComponent)
        }
      }
    }

    @Test("loopback is not possible, which is said before anything is connected")
    func notAllowed() async throws {
      try await Scenario.run("31d Janus uses") { scenario in
        try await scenario.expectNotAllowed(
          ["call", "--loopback"], at: "janus+ws://127.0.0.1:1", .loopback, name: "bot")
        try SignallingOutcomes.append(.janus, .loopback, .refused)
      }
    }
  }
}

extension EndToEnd {
  /// A room of a real Janus server in which a browser publishes.
  @Suite(
    "a browser in a room of a Janus server",
    .enabled(if: JanusProcess.isInstalled || Machine.isCI, Comment(rawValue: JanusProcess.isMissing)))
  struct JanusBrowserTests {
    @Test("what Chromium publishes is recorded under its display name", .enabled(if: Machine.hasChromium))
    func publisher() async throws {
      try await Scenario.run("31e Janus and Chromium") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot("recorder", at: janus.address, inRoom + ["--record", folder.path])
        let page = try await scenario.page(of: scenario.chromium(), camera: .refused)
        try await page.open(Pages.url("janus-publisher.html").absoluteString)
        _ = try await page.evaluate("janus.publish('ws://127.0.0.1:\(janus.port)', 1234, 'Zoë')")
        try await scenario.connected(recorder)
        try await sleepOnEventLoop(for: .seconds(5))
        let sent = try await page.evaluate("observer.report()")[0]["sent"]["video"]["framesSent"].int ?? 0
        _ = try await page.evaluate("janus.leave()")
        try await scenario.logged(" user left ", by: recorder)
        #expect(try await recorder.terminate().ending == .exit(0))
        let recording = try #require(try folder.userRecordings().first)
        #expect(recording.manifest["name"] == "Zoë")
        try await scenario.expectGood(recording, seconds: 4, name: "Chromium")
        let recorded = recording.webm.video?.times.count ?? 0
        await scenario.note(
          "measured: \(recording.webm.file.lastPathComponent): \(recorded) frames of \(sent) that Chromium sent")
        #expect(Double(recorded) >= 0.6 * Double(sent), .onQuietMachine("recorded from the first keyframe on"))
        let errors = await page.errors
        #expect(errors == [])
      }
    }

    @Test("both videos of a publisher are recorded, with what it says of the second", .enabled(if: Machine.hasChromium))
    func twoVideos() async throws {
      try await Scenario.run("31g Janus and two videos") { scenario in
        let janus = try await JanusProcess.start(in: scenario)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot("recorder", at: janus.address, inRoom + ["--record", folder.path])
        let page = try await scenario.page(of: scenario.chromium(), camera: .refused)
        try await page.open(Pages.url("janus-publisher.html").absoluteString)
        _ = try await page.evaluate("janus.publish('ws://127.0.0.1:\(janus.port)', 1234, 'Zoë', 'slides')")
        try await scenario.connected(recorder)
        try await sleepOnEventLoop(for: .seconds(6))
        _ = try await page.evaluate("janus.leave()")
        try await scenario.logged(" user left ", by: recorder)
        #expect(try await recorder.terminate().ending == .exit(0))
        for name in ["Zoë", "Zoë.2"] {
          let manifest = try JSON(
            parsing: String(contentsOf: folder.url.appendingPathComponent("\(name).json"), encoding: .utf8))
          let video = try #require(manifest["tracks"].list.first { $0["kind"] == "video" })
          let frames = video["frames"].int ?? 0
          let read = try Recording(folder.url.appendingPathComponent("\(name).webm")).video?.times.count
          await scenario.note("\(name): \(frames) frames, content \(manifest["stream"]["content"].string ?? "unknown")")
          #expect(frames > 40 && read == frames)
          #expect(video["lost"] == 0 && video["decodeErrors"] == 0)
          #expect(manifest["stream"]["content"].string == (name == "Zoë" ? nil : "slides"))
          #expect(manifest["tracks"].list.count == (name == "Zoë" ? 2 : 1))
        }
      }
    }
  }
}

private let inRoom = ["--room", "1234"]
