import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// `chatbot check` of working calls, and of calls with one fault.
  @Suite("a check of a call") struct CheckTests {
    @Test("a self-check finds that the machine is fit for checks")
    func itself() async throws {
      try await Scenario.run("22 check of itself") { scenario in
        let file = scenario.folder.appendingPathComponent("check.json")
        let bot = try await scenario.bot("check", ["check", "--self", "--for", "4s", "--json", file.path])
        let verdict = try await RunningCheck(bot: bot, file: file).verdict()
        await scenario.note("measured: \(verdict.summary)")
        #expect(verdict.failed == [], .verdict)
        #expect(verdict.ending == .exit(0), .verdict)
        try SignallingOutcomes.append(.skyRTC, .check, .passed)
        #expect(verdict.judged >= 15, "the rules of the test pattern are included")
        let delay = verdict.peer()["pattern"]["videoDelay"]["p50"].double ?? .nan
        await scenario.note(
          "measured: \(Self.milliseconds(delay)) from painting to decoding, \(Self.skew(of: verdict))")
        #expect(
          verdict.output.contains("All of these rules are default rules."),
          "the output states that default rules apply")
      }
    }

    @Test("Chromium and Firefox in one room satisfy all rules", .enabled(if: Machine.hasChromium && Machine.hasFirefox))
    func bothBrowsers() async throws {
      try await Scenario.run("22b check of both browsers", isolated: true) { scenario in
        let server = try await scenario.server()
        let chromium = try await scenario.chromium()
        // Chromium could not resolve mDNS names: this network has no multicast.
        let firefox = try await scenario.firefox(hidesAddresses: false)
        let check = try await scenario.check(
          in: "both", of: server, ["--peers", "2", "--size", "320x240", "--fps", "20", "--play", "pattern"])
        let calls = try await [
          scenario.call(in: chromium, room: "both", server: server, camera: .faulty(.none)),
          scenario.call(in: firefox, room: "both", server: server, camera: .faulty(.none)),
        ]
        let verdict = try await check.verdict()
        await scenario.note("measured: \(verdict.summary)")
        for call in calls {
          let peer = verdict.peer(try await call.joined())
          let rate = peer["video"]["fps"].double ?? 0
          let first = (peer["steps"]["firstFrame"].double ?? .nan) - (peer["steps"]["seen"].double ?? .nan)
          await scenario.note(
            "measured: \(call.browser): \(String(format: "%.1f", rate)) frames a second, the first after "
              + Self.milliseconds(first))
          #expect(peer["connection"]["audio"]["lost"] == 0, .onQuietMachine("\(call.browser)"))
        }
        #expect(verdict.failed == [], .verdict)
        #expect(verdict.ending == .exit(0), .verdict)
        #expect(verdict.json["peers"].list.count == 2)
      }
    }

    @Test(
      "a page with the test pattern satisfies all rules, and one with audio delayed by 300 ms fails only the skew rule",
      .enabled(if: Machine.hasChromium))
    func lateAudio() async throws {
      try await Scenario.run("22c check of late audio") { scenario in
        let found = try await Self.verdicts([.none, .lateAudio], ["--content", "pattern"], in: scenario)
        let (good, late) = (found[0], found[1])
        #expect(good.verdict.failed == [], .verdict)
        #expect(good.verdict.ending == .exit(0), .verdict)
        #expect(late.verdict.failed == ["av.skew.p95"], .verdict)
        #expect(late.verdict.ending == .exit(1), .verdict)
        let stall = await scenario.stall / 1000
        for found in [good, late] {
          let skew = found.verdict.peer()["skew"]
          #expect(skew["source"] == "pattern")
          let middle = skew["total"]["p50"].double ?? .nan
          // What the page's audio context adds between the samples and the track.
          let latency = found.page["baseLatency"].double ?? 0
          #expect(
            abs(middle - latency - (found.fault == .lateAudio ? 0.3 : 0)) < 0.03 + stall,
            .onQuietMachine("\(found.fault)"))
        }
        let middles = [late, good].map { $0.verdict.peer()["skew"]["total"]["p50"].double ?? .nan }
        #expect(abs(middles[0] - middles[1] - 0.3) < 0.02 + stall, .onQuietMachine("the difference of both pages"))
        let born = late.verdict.peer()["skew"]["sender"].double ?? .nan
        #expect(
          abs(born - 0.3) < 0.05 + stall, .onQuietMachine("the skew is assigned to the sender, not to the network"))
      }
    }

    @Test("black frames and silent audio fail exactly the rules for them", .enabled(if: Machine.hasChromium))
    func nothingInIt() async throws {
      try await Scenario.run("22d check of black and silent") { scenario in
        let found = try await Self.verdicts([.black, .silent], in: scenario)
        let (black, silent) = (found[0], found[1])
        #expect(black.verdict.failed == ["video.black.longest"], .verdict)
        let blackFor = black.verdict.value("video.black.longest") ?? .nan
        let seenFor = black.verdict.peer()["video"]["duration"].double ?? .nan
        let stall = await scenario.stall / 1000
        #expect(abs(blackFor - seenFor) < 0.1 + stall, .onQuietMachine("from the first frame to the last"))
        #expect(blackFor > 5)
        #expect(silent.verdict.failed == ["audio.silence.longest"], .verdict)
        let silentFor = silent.verdict.value("audio.silence.longest") ?? .nan
        let heardFor = silent.verdict.peer()["audio"]["duration"].double ?? .nan
        #expect(abs(silentFor - heardFor) < 0.1 + stall, .onQuietMachine("from the first packet to the last"))
        #expect(silentFor > 5)
        for found in [black, silent] { #expect(found.verdict.ending == .exit(1), .verdict) }
      }
    }

    @Test("a low frame rate and a freeze of 2 s fail exactly the rules for them", .enabled(if: Machine.hasChromium))
    func fewVideoFrames() async throws {
      try await Scenario.run("22e check of slow and frozen") { scenario in
        let found = try await Self.verdicts([.slow, .freeze], in: scenario)
        let (slow, frozen) = (found[0], found[1])
        #expect(slow.verdict.failed == ["video.fps"], .verdict)
        #expect(abs((slow.verdict.value("video.fps") ?? .nan) - 5) < 0.3, .verdict)
        #expect(frozen.verdict.failed == ["video.freeze.longest"], .verdict)
        let length = frozen.verdict.value("video.freeze.longest") ?? .nan
        let stall = await scenario.stall / 1000
        #expect(abs(length - 2) < 0.2 + stall, .verdict)
        let freezes = frozen.verdict.peer()["video"]["freezes"]
        // The page itself may pause for some tenths of a second.
        let long = freezes["list"].list.filter { ($0["duration"].double ?? 0) >= 1 }
        #expect(long.count == 1, .verdict)
        let freeze = long.first ?? .null
        #expect(freeze["reason"] == "senderPaused", .verdict)
        let (from, to) = (frozen.page["frozenFrom"].double ?? .nan, frozen.page["frozenTo"].double ?? .nan)
        let begun = frozen.verdict.start + (freeze["start"].double ?? .nan) * 1000
        await scenario.note(
          String(
            format: "measured: a freeze of %.3f s for a real one of %.3f s, its start %.0f ms late", length,
            (to - from) / 1000, begun - from))
        #expect(abs(length - (to - from) / 1000) < 0.1 + stall, .onQuietMachine("as long as the page reports"))
        #expect(abs(begun - from) < 200 + 1000 * stall, .onQuietMachine("at the time that the page reports"))
        for found in [slow, frozen] { #expect(found.verdict.ending == .exit(1), .verdict) }
      }
    }

    @Test(
      "a page that leaves early fails exactly that rule, and a check without a peer reports how far the call got",
      .enabled(if: Machine.hasChromium))
    func leaving() async throws {
      try await Scenario.run("22f check of leaving") { scenario in
        let server = try await scenario.server()
        let lonely = try await scenario.bot(
          "lonely", ["check", "--server", server.address, "--room", "empty", "--wait", "3s", "--for", "2s"])
        let left = try await Self.verdicts([.leaving], at: server, in: scenario)[0]
        #expect(left.verdict.failed == ["absent"], .verdict)
        #expect(left.verdict.ending == .exit(1), .verdict)
        let absent = left.verdict.value("absent") ?? .nan
        let expected = (left.verdict.end - (left.page["leftAt"].double ?? .nan)) / 1000
        await scenario.note(String(format: "measured: away for %.2f s, by the page's clock %.2f s", absent, expected))
        #expect(abs(absent - expected) < 0.3 + (await scenario.stall) / 1000, .onQuietMachine("since the page left"))
        #expect(left.verdict.peer()["departure"]["cause"] == "left")
        #expect(try await lonely.ending(within: .seconds(10)) == .exit(1))
        #expect(lonely.output.contains("no peer was seen"), "the output states how far the call got")
      }
    }

    @Test("a misspelt rule is reported before joining, with similar names")
    func mistakes() async throws {
      try await Scenario.run("22g check with a mistake") { scenario in
        // No server listens there: a bot that tried to join would report that.
        let bot = try await scenario.bot(
          "check", ["check", "--server", "ws://127.0.0.1:1", "--room", "r", "--expect", "video.fsp >= 24"])
        #expect(try await bot.ending(within: .seconds(5)) == .exit(64))
        #expect(bot.output.contains("video.fps"))
      }
    }

    // MARK: Pages with a fault

    /// The result of a check of one page, and the page's own report.
    private struct Found: Sendable {
      let fault: CameraFault
      let verdict: CheckVerdict
      let page: JSON
    }

    /// Checks pages with these faults at the same time, each in its own room.
    private static func verdicts(
      _ faults: [CameraFault], _ arguments: [String] = [], at given: Server? = nil, in scenario: Scenario
    ) async throws -> [Found] {
      let server: Server
      if let given { server = given } else { server = try await scenario.server() }
      let browser = try await scenario.chromium()
      var calls: [(check: RunningCheck, call: CallPage)] = []
      for fault in faults {
        let room = fault.rawValue
        let check = try await scenario.check(
          in: room, of: server, ["--play", "pattern", "--size", "320x240", "--fps", "20"] + arguments,
          name: "check \(room)")
        let call = try await scenario.call(
          in: browser, room: room, server: server, camera: .faulty(fault, framesPerSecond: fault == .freeze ? 30 : 20))
        calls.append((check, call))
      }
      var found: [Found] = []
      for (fault, (check, call)) in zip(faults, calls) {
        let verdict = try await check.verdict()
        await scenario.note(
          "measured: \(fault.rawValue): \(verdict.summary); \(skew(of: verdict)), "
            + String(format: "%.2f frames a second", verdict.peer()["video"]["fps"].double ?? .nan))
        let errors = await call.page.errors
        #expect(errors == [])
        found.append(
          Found(fault: fault, verdict: verdict, page: try await call.page.evaluate("faultyCamera.report()")))
      }
      return found
    }

    private static func skew(of verdict: CheckVerdict) -> String {
      let skew = verdict.peer()["skew"]
      func figure(_ value: JSON) -> String { value.double.map { String(format: "%+.0f", $0 * 1000) } ?? "-" }
      return "audio after video by \(figure(skew["total"]["p50"])) ms (sender \(figure(skew["sender"])), network "
        + "\(figure(skew["network"])), receiver \(figure(skew["receiver"])))"
    }

    private static func milliseconds(_ seconds: Double) -> String { String(format: "%.0f ms", seconds * 1000) }
  }
}
