import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Publishing and playing by WHIP and WHEP, with `chatbot serve` as the media server.
  @Suite("WHIP and WHEP") struct WHIPScenarioTests {
    @Test(
      "what a bot publishes by WHIP is shown to Chromium in the room, and another bot checks and records it by WHEP",
      .enabled(if: Machine.hasChromium))
    func publisher() async throws {
      try await Scenario.run("30 WHIP and WHEP") { scenario in
        let server = try await scenario.server()
        let publisher = try await scenario.bot("publisher", at: whip(server), Scenario.smallPattern)
        try await scenario.connected(publisher)
        let call = try await scenario.call(
          in: scenario.chromium(), room: "100", server: server, camera: .refused)
        let folder = await scenario.recordings()
        let check = try await scenario.check(at: whep(server), ["--content", "pattern"])
        let recorder = try await scenario.bot("recorder", at: whep(server), ["--record", folder.path])
        try await scenario.connected(recorder)
        _ = try await call.firstVideoFrame()
        try await SignallingOutcomes.record(.whep, .check) { try await scenario.expectHeld(check) }
        let report = try #require(try await call.reports().first)
        await scenario.note("measured: \(report.videoFramesShown) frames shown, \(report.framesDecoded) decoded")
        try await SignallingOutcomes.record(.whip, .play) { try #require(report.videoFramesShown >= 40) }
        #expect(report.receivedSize == "320x240")
        #expect(try await recorder.terminate().ending == .exit(0))
        #expect(try await publisher.terminate().ending == .exit(0))
        try await SignallingOutcomes.record(.whep, .record) {
          let recordings = try folder.userRecordings()
          try #require(recordings.count == 1)
          try await scenario.expectGood(recordings[0], seconds: 4, name: "WHEP")
        }
        let errors = await call.page.errors
        #expect(errors == [])
      }
    }

    @Test("what the page at /whip publishes is recorded in the room", .enabled(if: Machine.hasChromium))
    func publishingPage() async throws {
      try await Scenario.run("30b WHIP page") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        let page = try await scenario.page(of: scenario.chromium())
        try await page.open("\(server.pageAddress)whip?name=Pat#100")
        try await state("connected", of: page)
        try await scenario.connected(recorder)
        try await sleepOnEventLoop(for: .seconds(5))
        let sent = try await page.evaluate("observer.report()")[0]["sent"]["video"]["framesSent"].int ?? 0
        _ = try await page.evaluate("whip.stop()")
        try await scenario.logged(" user left ", by: recorder)
        #expect(try await recorder.terminate().ending == .exit(0))
        let recordings = try folder.userRecordings()
        #expect(recordings.count == 1)
        let recording = try #require(recordings.first)
        #expect(recording.webm.file.lastPathComponent == "Pat.webm" && recording.manifest["name"] == "Pat")
        try await scenario.expectGood(recording, seconds: 4, name: "the page")
        let recorded = recording.webm.video?.times.count ?? 0
        await scenario.note("measured: \(recorded) frames recorded, \(sent) sent by the page before it stopped")
        // The publisher joins the room when its media has arrived; the frames before that are kept for the room.
        #expect(Double(recorded) >= 0.95 * Double(sent), .onQuietMachine("nearly all frames are recorded"))
        let errors = await page.errors
        #expect(errors == [])
      }
    }

    @Test(
      "the page at /whep plays the participant that is chosen, and nobody's last frame",
      .enabled(if: Machine.hasChromium))
    func choosingPage() async throws {
      try await Scenario.run("30f WHEP page chooses") { scenario in
        let server = try await scenario.server()
        var bots: [Bot] = []
        for name in ["Left", "Right"] {
          let arguments = ["--name", name] + Scenario.smallPattern
          bots.append(try await scenario.bot(in: "100", of: server, arguments, name: name))
        }
        let page = try await scenario.page(of: scenario.chromium())
        try await page.open("\(server.pageAddress)whep?name=Left#100")
        func waitForPicture(_ picture: String, _ what: String) async throws {
          try await eventually(what, within: .seconds(20)) {
            try await page.evaluate("document.body.dataset.picture").string == picture ? true : nil
          }
        }
        try await state("connected", of: page)
        try await waitForPicture("on", "picture of Left")
        try await eventually("list of both", within: .seconds(10)) {
          try await page.evaluate("whip.participants.map(({ name }) => name).sort()").list == ["Left", "Right"]
            ? true : nil
        }
        #expect(try await bots[0].terminate().ending == .exit(0))
        try await waitForPicture("off", "end of the picture of Left, although Right sends")
        let chosen = "document.querySelector('#who').selectedOptions[0].text"
        #expect(try await page.evaluate(chosen) == "Left (not here)")
        #expect(try await page.evaluate("document.querySelector('#status').dataset.state") == "waiting")
        _ = try await page.evaluate("whip.choose('')")
        try await state("connected", of: page)
        try await waitForPicture("on", "picture of Right")
        #expect(try await bots[1].terminate().ending == .exit(0))
        let errors = await page.errors
        #expect(errors == [])
      }
    }

    @Test("Firefox plays by the page at /whep what a bot publishes", .enabled(if: Machine.hasFirefox))
    func playingPage() async throws {
      try await Scenario.run("30c WHEP page in Firefox", isolated: true) { scenario in
        let server = try await scenario.server()
        let publisher = try await scenario.bot("publisher", at: whip(server), Scenario.smallPattern)
        try await scenario.connected(publisher)
        let page = try await scenario.page(of: scenario.firefox())
        try await page.open("\(server.pageAddress)whep#100")
        try await state("connected", of: page)
        let decoded = try await eventually("40 frames in Firefox", within: .seconds(15)) {
          let decoded = try await page.evaluate("observer.report()")[0]["received"]["video"]["framesDecoded"].int ?? 0
          return decoded >= 40 ? decoded : nil
        }
        try await eventually("video on the page", within: .seconds(5)) {
          try await page.evaluate("document.body.dataset.picture") == "on" ? true : nil
        }
        await scenario.note("measured: \(decoded) frames decoded by Firefox")
        let errors = await page.errors
        #expect(errors == [])
      }
    }

    @Test("a wrong token ends a publisher and a player with exit code 69 and one sentence, and the right one does not")
    func tokens() async throws {
      try await Scenario.run("30d WHIP tokens") { scenario in
        let tokens = scenario.folder.appendingPathComponent("tokens")
        try Data("right\n".utf8).write(to: tokens)
        let server = try await scenario.server(["--whip-token-file", tokens.path])
        let wrong = ["CHATBOT_TOKEN": "wrong"]
        let publisher = try await scenario.start(
          "publisher", ["--server", whip(server)] + Scenario.smallPattern, environment: wrong)
        let player = try await scenario.start(
          "player", ["--server", whep(server), "--record", scenario.recordings().path], environment: wrong)
        try await scenario.expectRefusal(publisher, code: 69, saying: "token")
        try await scenario.expectRefusal(player, code: 69, saying: "token")
        let admitted = try await scenario.bot(
          "admitted", at: whip(server), Scenario.smallPattern, environment: ["CHATBOT_TOKEN": "right"])
        try await scenario.connected(admitted)
        for bot in [publisher, player, admitted, server.bot] {
          #expect(!bot.output.contains("wrong\""), "no token is logged")
          #expect(!bot.output.contains("right\""), "no token is logged")
        }
      }
    }

    @Test(
      "frames of a turned phone that a WHEP server forwards are recorded with their orientation, and are upright in ffmpeg",
      .enabled(if: InteropPeer.Stack.aiortc.isInstalled || Machine.isCI))
    func orientation() async throws {
      try await Scenario.run("30h WHEP and a turned phone", limit: .seconds(90)) { scenario in
        let script = BuiltProgram.repository.appendingPathComponent("Tests/Interop/whip-server.py").path
        // Turned by 90°, then turned by 180° and mirrored.
        let server = try await scenario.service(
          "whep", [InteropPeer.systemPython, script, "--orientations", "1,6"])
        let port = try await eventually("the port of the server", within: .seconds(20)) {
          server.output.split(whereSeparator: \.isNewline).lazy.compactMap { line in
            line.hasPrefix(#"{"port": "#) ? Int(line.dropFirst(9).prefix { $0.isNumber }) : nil
          }.first
        }
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(
          "recorder", at: "whep+http://127.0.0.1:\(port)/whep/plain", ["--record", folder.path])
        try await scenario.connected(recorder, within: .seconds(20))
        try await sleepOnEventLoop(for: .seconds(9))
        #expect(try await recorder.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let video = recorded.track("video")
        let turns = video["orientations"].list.map { $0["rotation"].int ?? -1 }
        await scenario.note("measured: \(video["frames"].int ?? 0) frames, \(turns), \(recorded.videos.count) files")
        #expect(turns == [90, 180] && video["orientations"].list.last?["mirrored"] == true)
        #expect(recorded.videos.count == 2 && video["decodeErrors"] == 0)
        for file in recorded.videos {
          #expect(try file.corners() == "RGBY", "\(file.file.lastPathComponent) is upright")
          #expect(try file.decodingErrors() == "")
        }
      }
    }

    @Test("a publisher and a player come back by themselves after the server was killed and started again")
    func restart() async throws {
      try await Scenario.run("30e WHIP server restart") { scenario in
        let server = try await scenario.server()
        let publisher = try await scenario.bot("publisher", at: whip(server), Scenario.smallPattern)
        try await scenario.connected(publisher)
        let folder = await scenario.recordings()
        let player = try await scenario.bot("player", at: whep(server), ["--record", folder.path])
        try await scenario.connected(player)
        try await sleepOnEventLoop(for: .seconds(2))
        try await server.kill()
        let reborn = try await scenario.server(port: server.port)
        let restarted = ContinuousClock.now
        // The media server is gone too: the publisher restarts ICE after 5 s of silence, and its session is not known.
        try await scenario.connected(publisher, times: 2, within: .seconds(35))
        let back = ContinuousClock.now - restarted
        try await scenario.connected(player, times: 2, within: .seconds(15))
        await scenario.note("measured: the publisher was back \(back.formatted(.units(allowed: [.seconds]))) later")
        #expect(back < .seconds(35 + (await scenario.stall) / 1000))
        try await sleepOnEventLoop(for: .seconds(3))
        #expect(try await player.terminate().ending == .exit(0))
        #expect(reborn.bot.isRunning)
        let recordings = try folder.userRecordings()
        try #require(recordings.count == 2, "another certificate may be another server, so a new recording begins")
        for (recording, name) in zip(recordings, ["before the restart", "after it"]) {
          try await scenario.expectGood(recording, seconds: 1.5, mayPause: true, name: name)
        }
      }
    }

    /// What FFmpeg publishes, and whether it is the DTLS client.
    private static let streams: [(profile: String, isActive: Bool)] = [("main", true), ("high", true), ("main", false)]

    @Test(
      "FFmpeg's WHIP muxer publishes H.264, which is recorded slice by slice as it was encoded, and seen by Chromium",
      .enabled(if: Machine.hasChromium && ffmpegPython != nil), arguments: streams)
    func ffmpeg(profile: String, isActive: Bool) async throws {
      let python = try #require(ffmpegPython)
      try await Scenario.run("30g FFmpeg \(profile) \(isActive ? "active" : "passive")") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "100", of: server, ["--record", folder.path], name: "recorder")
        let own = scenario.folder.appendingPathComponent("own.h264")
        var arguments = ["--profile", profile, "--keyframe-interval", isActive ? "300" : "10"]
        if isActive { arguments += ["--certificate"] + (try scenario.folder.certificate()) }
        // A passive one waits for datagrams of ours, and sends few frames a second.
        let publisher = try await scenario.program(
          "ffmpeg",
          [
            python, "-u", BuiltProgram.repository.appendingPathComponent("Tests/Interop/ffmpeg-whip.py").path,
            "http://127.0.0.1:\(server.port)/whip/100", own.path, "--frames", isActive ? "150" : "12",
          ] + arguments)
        try await scenario.connected(recorder)
        if isActive {
          // The only keyframe is some seconds old, and FFmpeg makes none on request: the gateway replays what followed it.
          try await sleepOnEventLoop(for: .seconds(3))
          let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .refused)
          let report = try await call.firstVideoFrame()
          #expect(report.receivedSize == "320x240")
          _ = try await call.leave()
        }
        #expect(try await publisher.ending(within: .seconds(60)) == .exit(0), "\(publisher.output.suffix(2_000))")
        try await scenario.logged(" user left ", by: recorder)
        #expect(try await recorder.terminate().ending == .exit(0))
        let recorded = try folder.onlyUser()
        let video = recorded.track("video")
        let sent = H264Slices.of(try Data(contentsOf: own))
        let slices = try recorded.videos.flatMap { try H264Slices.of($0) }
        await scenario.note("measured: \(sent.count) slices sent, \(slices.count) recorded; \(video["codecs"].list)")
        #expect(slices.count >= sent.count - (isActive ? 3 : 1))
        #expect(slices == Array(sent.prefix(slices.count)))
        #expect(video["codecs"][0]["profile"].string?.hasPrefix(profile == "high" ? "avc1.64" : "avc1.4d") == true)
        #expect(video["decodeErrors"] == 0 && video["lost"] == 0)
      }
    }

    @Test("an offer whose only codec of video is unknown is refused, and the log says which are offered and supported")
    func unknownCodec() async throws {
      try await Scenario.run("30h WHIP unknown codec") { scenario in
        let server = try await scenario.server()
        let offer = scenario.folder.appendingPathComponent("offer.sdp")
        let lines = [
          "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "m=video 9 UDP/TLS/RTP/SAVPF 49",
          "c=IN IP4 0.0.0.0", "a=ice-ufrag:EsAw", "a=ice-pwd:bP+XJMM09aR8AiX1jdukzR6Y",
          "a=fingerprint:sha-256 "
            + "DA:7B:57:DC:28:CE:04:4F:31:79:85:C4:31:67:EB:27:58:29:ED:77:2A:0D:24:AE:ED:AD:30:BC:BD:F1:9C:02",
          "a=setup:passive", "a=mid:0", "a=sendonly", "a=rtcp-mux", "a=rtpmap:49 H263/90000",
        ]
        try Data(lines.map { $0 + "\r\n" }.joined().utf8).write(to: offer)
        let script = """
          import sys, urllib.error, urllib.request
          body = open(sys.argv[1], "rb").read()
          request = urllib.request.Request(sys.argv[2], body, {"Content-Type": "application/sdp"})
          try:
              print(urllib.request.urlopen(request).status)
          except urllib.error.HTTPError as error:
              print(error.code, error.read().decode())
          """
        let answer = try ExternalTool.run(
          InteropPeer.systemPython, ["-c", script, offer.path, "http://127.0.0.1:\(server.port)/whip/100"])
        #expect(answer.output.hasPrefix("422 "))
        #expect(answer.output.contains("only H263 is offered, but we support VP8"))
        try await scenario.logged("an offer was refused", by: server.bot)
        #expect(server.bot.output.contains("only H263 is offered"))
      }
    }

    @Test("what WHIP and WHEP do not allow is said before anything is connected")
    func notAllowed() async throws {
      try await Scenario.run("30f WHIP uses") { scenario in
        let address = "http://127.0.0.1:1/x/100"
        let folder = await scenario.recordings().path
        let uses: [(SignallingOutcomes.System, SignallingOutcomes.Use, [String])] = [
          (.whip, .record, ["call", "--record", folder]), (.whip, .loopback, ["call", "--loopback"]),
          (.whip, .check, ["check"]), (.whep, .play, ["call"] + Scenario.smallPattern),
          (.whep, .loopback, ["call", "--loopback"]),
        ]
        for (system, use, arguments) in uses {
          try await scenario.expectNotAllowed(
            arguments, at: "\(system.rawValue)+\(address)", use, name: "\(system) \(use)")
          try SignallingOutcomes.append(system, use, .refused)
        }
      }
    }
  }
}

/// The interpreter whose package `av` has FFmpeg's WHIP muxer.
private let ffmpegPython = ProcessInfo.processInfo.environment["CHATBOT_FFMPEG_PYTHON"]

extension URL {
  /// Makes a certificate on P-256 and its key in this folder, and returns their paths.
  fileprivate func certificate() throws -> [String] {
    let files = ["certificate.pem", "key.pem"].map { appendingPathComponent($0).path }
    let key = try ExternalTool.run(
      "openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", files[1]])
    let made = try ExternalTool.run(
      "openssl", ["req", "-x509", "-key", files[1], "-subj", "/CN=ffmpeg", "-days", "30", "-out", files[0]])
    guard key.status == 0, made.status == 0 else { throw FakeCamera.NotMade(errors: key.errors + made.errors) }
    return files
  }
}

private func whip(_ server: Server) -> String { "whip+http://127.0.0.1:\(server.port)/whip/100" }

private func whep(_ server: Server) -> String { "whep+http://127.0.0.1:\(server.port)/whep/100" }

/// Waits for a state of a page at /whip or /whep.
private func state(_ wanted: String, of page: any Page) async throws {
  try await eventually("\(wanted) page", within: .seconds(15)) {
    let state = try await page.evaluate("window.whip ? [whip.state, whip.problem] : ['loading', '']")
    if state[0] == "failed" { throw ScriptError(expression: "whip.start", message: state[1].string ?? "") }
    return state[0].string == wanted ? true : nil
  }
}
