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
        try await page.open("\(server.pageAddress)whip#100")
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
        try await scenario.expectGood(recording, seconds: 4, name: "the page")
        let recorded = recording.webm.video?.times.count ?? 0
        await scenario.note("measured: \(recorded) frames recorded, \(sent) sent by the page before it stopped")
        // The publisher joins the room when its media has arrived; the frames before that are kept for the room.
        #expect(Double(recorded) >= 0.95 * Double(sent), .onQuietMachine("nearly all frames are recorded"))
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
