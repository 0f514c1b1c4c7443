import Foundation
import NetworkEmulation
import TestSupport
import Testing

extension EndToEnd {
  /// The test pattern, encoded while it plays, as received by browsers.
  @Suite("a bot that plays the pattern") struct PatternTests {
    @Test(
      "Chromium sees every number in order and in sync, also after a late join and with ten keyframe requests a second",
      .enabled(if: Machine.hasChromium))
    func chromium() async throws {
      try await Scenario.run("19 pattern") { scenario in
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "pattern", of: server, Self.pattern)
        let browser = try await scenario.chromium()
        let first = try await scenario.watcher(in: browser, room: "pattern", server: server)
        try await first.connected()
        try await sleepOnEventLoop(for: .seconds(4))
        let late = try await scenario.watcher(in: browser, room: "pattern", server: server)
        try await late.connected()
        try await sleepOnEventLoop(for: .seconds(4))
        let report = try await Self.expectWhole(first, name: "first", in: scenario)
        try await Self.expectInStep(report, within: 40 + scenario.stall)
        try await Self.expectQuickStart(late, in: scenario)
        try await Self.expectWhole(late, name: "late", in: scenario)
        await late.page.close()

        let asking = try await scenario.watcher(
          in: browser, room: "pattern", server: server, keyframeRequestsEvery: .milliseconds(100))
        try await asking.connected()
        try await sleepOnEventLoop(for: .seconds(5))
        let pestered = try await Self.expectWhole(asking, name: "ten requests a second", in: scenario)
        #expect(pestered.problem == nil)
        #expect(pestered.requests > 30, .onQuietMachine("the page sent requests"))
        try await Self.expectWhole(first, name: "without requests", in: scenario)
        let keyframes = pestered.keyframesDecoded
        await scenario.note(
          "measured: \(pestered.requests) keyframes requested in 5 s, \(keyframes) received")
        #expect((6...14).contains(keyframes), .onQuietMachine("at most one in 500 ms"))
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    @Test("Firefox sees every number in order", .enabled(if: Machine.hasFirefox))
    func firefox() async throws {
      try await Scenario.run("19b pattern in Firefox", isolated: true) { scenario in
        let server = try await scenario.server()
        let bot = try await scenario.bot(in: "pattern", of: server, Self.pattern)
        let call = try await scenario.watcher(in: scenario.firefox(), room: "pattern", server: server)
        try await call.connected()
        // Firefox may pause for half a second whatever arrives, and then shows only the newest frame: so it may have three tries.
        var report: PatternReport
        var begun = 0.0
        var tries = 0
        repeat {
          try await sleepOnEventLoop(for: .seconds(6))
          report = try await call.patternReport().since(begun)
          begun = report.videoFrames.last?.seenAt ?? begun
          tries += 1
        } while report.missing > 0 && tries < 3
        try await Self.expectWhole(report, in: call.browser, name: "Firefox", in: scenario)
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    @Test(
      "with 5 % loss every number is seen, and at 300 kb/s frames still arrive in order and in time",
      .enabled(if: Machine.hasChromium))
    func badPaths() async throws {
      try await Scenario.run("19c pattern over impaired networks") { scenario in
        let server = try await scenario.server()
        let browser = try await scenario.chromium()
        // One after the other: a small machine cannot decode two at once in time.
        let lossy = Impairment.Conditions(loss: 0.05, delay: .milliseconds(25))
        let loss = try await Self.seen(
          over: lossy, room: "loss", seed: 190, playing: Self.pattern, in: browser, of: server, scenario)
        await scenario.note("measured: 5 % loss: \(loss.description)")
        #expect(loss.isInOrder)
        #expect(loss.missing == 0, .onQuietMachine("lost packets are retransmitted"))
        #expect(loss.videoFrames.count > 75, .onQuietMachine("the video moves"))
        try await Self.expectInStep(loss, within: Self.badLineSkew + scenario.stall)
        let narrowPath = Impairment.Conditions(delay: .milliseconds(25), rate: 300_000)
        let narrow = try await Self.seen(
          over: narrowPath, room: "narrow", seed: 191, playing: ["--play", "pattern"], in: browser, of: server, scenario
        )
        await scenario.note("measured: 300 kb/s: \(narrow.description)")
        #expect(narrow.isInOrder)
        #expect(
          narrow.missing <= 8, .onQuietMachine("frames that do not fit are skipped before numbering"))
        #expect(narrow.videoFrames.count > 45, .onQuietMachine("the video moves"))
        let stall = await scenario.stall
        #expect(narrow.maximumPause < 1000 + stall, .onQuietMachine("in milliseconds"))
        #expect(narrow.delay(0.5) < 400 + stall, .onQuietMachine("no standing queue"))
        try Self.expectInStep(narrow, within: Self.badLineSkew + stall)
      }
    }

    /// A small pattern; only the call with a low bandwidth uses a larger one.
    private static let pattern = ["--play", "pattern", "--size", "320x240", "--fps", "15"]

    /// Returns what a page sees of the pattern during 8 s over an impaired network, after 10 s in which the encoder
    /// adapts and the browser synchronises audio and video again.
    private static func seen(
      over line: Impairment.Conditions, room: String, seed: UInt64, playing pattern: [String], in browser: Chromium,
      of server: Server, _ scenario: Scenario
    ) async throws -> PatternReport {
      let relay = try await scenario.relay(to: server, seed: seed)
      let bot = try await scenario.bot(in: room, of: server, via: relay, pattern, name: "bot \(room)")
      let call = try await scenario.watcher(in: browser, room: room, server: server)
      try await call.connected()
      await relay.impair(line)
      try await sleepOnEventLoop(for: .seconds(10))
      let begun = Date().timeIntervalSince1970 * 1000
      try await sleepOnEventLoop(for: .seconds(8))
      let report = try await call.patternReport().since(begun)
      _ = try await call.leave()
      #expect(try await bot.terminate().ending == .exit(0))
      return report
    }

    // MARK: Expectations

    @discardableResult
    private static func expectWhole(
      _ call: CallPage, name: String, in scenario: Scenario
    ) async throws -> PatternReport {
      let report = try await call.patternReport()
      try await expectWhole(report, in: call.browser, name: name, in: scenario)
      return report
    }

    private static func expectWhole(
      _ report: PatternReport, in browser: String, name: String, in scenario: Scenario
    ) async throws {
      await scenario.note("measured: \(name): \(report.description)")
      #expect(report.isInOrder, "\(name): in order")
      // Firefox updates its decoding statistics only from time to time.
      if browser == "Chromium" { #expect(report.undecoded == 0, .onQuietMachine("\(name): every number")) }
      // A page that reads more slowly than frames arrive does not read all of them, but it counts them.
      #expect(report.missing == 0, .onQuietMachine("\(name): none is missing"))
      #expect(report.videoFrames.count > 30, .onQuietMachine("\(name): there are frames"))
    }

    /// The skew that is allowed over an impaired network, in milliseconds. Chromium then synchronises audio and video only
    /// roughly and slowly, however exact the sender reports are: frames wait for retransmissions, and audio does not wait for
    /// frames.
    private static let badLineSkew = 150.0

    /// - Parameter limit: the allowed skew in milliseconds.
    private static func expectInStep(_ report: PatternReport, within limit: Double) throws {
      // A browser's frame rate settles in the first two seconds.
      let skews = report.settled().skews
      try #require(skews.count >= 3, .onQuietMachine("there are marks to compare"))
      let middle = skews.sorted()[skews.count / 2]
      #expect(abs(middle) < limit, .onQuietMachine("audio and video are in sync"))
    }

    private static func expectQuickStart(_ call: CallPage, in scenario: Scenario) async throws {
      let connected = try #require(try await call.reports().first?.connectedAt)
      let seen = try #require(try await call.patternReport().videoFrames.first?.seenAt)
      await scenario.note("measured: first frame \(Int(seen - connected)) ms after connecting")
      #expect(seen - connected < 500 + (await scenario.stall), .onQuietMachine("in milliseconds"))
    }
  }
}

extension Scenario {
  /// Starts a call of a page that reads the pattern, without a camera by default.
  func watcher(
    in browser: some Browser, room: String, server: Server, camera: Camera = .refused,
    keyframeRequestsEvery pause: Duration? = nil
  ) async throws -> CallPage {
    let page = try await page(of: browser, camera: camera)
    try await page.addStartScript(Pages.script("pattern-reader"))
    if let pause {
      try await page.addStartScript("window.keyframeRequestsEvery = \(Int(pause.inSeconds * 1000));")
      // The call page's content security policy allows no other workers.
      try await (page as? ChromiumPage)?.call("Page.setBypassCSP", ["enabled": true])
    }
    try await page.addStartScript(Pages.script("pattern-watch"))
    let call = CallPage(page: page, browser: browser.name)
    try await call.enter(room: room, at: server.pageAddress)
    return call
  }
}

extension CallPage {
  /// Returns the page's report of the call in which it read the most frames.
  func patternReport() async throws -> PatternReport {
    let reports = try await page.evaluate("patternWatch.report()").list.map { PatternReport(json: $0) }
    guard let report = reports.max(by: { $0.videoFrames.count < $1.videoFrames.count }) else {
      throw ScriptError(expression: "patternWatch.report()", message: "There is no call.")
    }
    return report
  }
}
