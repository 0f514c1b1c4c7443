import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Data channels between the bot and browsers, through a page that has exactly the messages of the SkyRTC client of 2013.
  @Suite("data channels with browsers") struct DataChannelScenarioTests {
    /// Which side sends the offer, and so opens the channel of the room.
    enum Offerer: String, CaseIterable, Sendable {
      case page, bot
    }

    @Test(
      "1,000 messages of 1 B to 256 KiB come back once and in order from a bot that loops them back, whoever offers",
      arguments: Offerer.allCases)
    func chromium(_ offerer: Offerer) async throws {
      guard Machine.hasChromium else { return }
      try await Scenario.run("41 data channels of Chromium, \(offerer) offers") { scenario in
        try await Self.stress(scenario.page(of: scenario.chromium(), camera: .own), offerer, scenario)
      }
    }

    @Test(
      "the same with Firefox", .enabled(if: Machine.hasFirefox), arguments: Offerer.allCases)
    func firefox(_ offerer: Offerer) async throws {
      try await Scenario.run("41b data channels of Firefox, \(offerer) offers", isolated: true) { scenario in
        try await Self.stress(scenario.page(of: scenario.firefox(), camera: .own), offerer, scenario)
      }
    }

    @Test("a check measures what a bot returns on a data channel, and names why there is nothing to measure")
    func check() async throws {
      try await Scenario.run("41c a check of data channels") { scenario in
        let server = try await scenario.server()
        _ = try await scenario.bot(in: "good", of: server, ["--loopback"], name: "good mirror")
        _ = try await scenario.bot(in: "bad", of: server, ["--loopback"], name: "bad mirror")
        _ = try await scenario.bot(
          in: "silent", of: server, ["--play", "pattern", "--size", "320x240"], name: "silent")
        let rules = [
          "data.open <= 2s", "data.loss <= 0%", "data.order <= 0", "data.throughput >= 300kbit",
          "data.rtt.p95 <= 500ms",
        ].flatMap { ["--expect", $0] }
        let common = ["--data", "500k", "--content", "any", "--play", "pattern", "--size", "320x240"]
        let checks = try await concurrently(
          [("good", []), ("bad", ["--impair", "loss=5%"]), ("silent", [])] as [(String, [String])]
        ) { room, arguments in
          try await scenario.check(
            in: room, of: server, seconds: 5, common + rules + arguments, name: "check \(room)"
          ).verdict()
        }
        for verdict in checks { await scenario.note("measured: \(verdict.summary)") }
        #expect(checks[0].failed == [], .verdict)
        #expect(checks[1].failed == [], .verdict)
        let data = checks[1].peer()["data"]
        #expect(data["lost"] == 0 && data["disordered"] == 0, "a reliable channel loses nothing at 5 % loss")
        #expect(checks[2].ending == .exit(1))
        #expect(checks[2].failed.contains("data.loss"))
        #expect(checks[2].output.contains("the peer sent no message back"))
      }
    }

    private static func stress(_ page: any Page, _ offerer: Offerer, _ scenario: Scenario) async throws {
      let server = try await scenario.server()
      if offerer == .page { _ = try await scenario.bot(in: "100", of: server, ["--loopback"]) }
      try await page.addStartScript(Pages.script("skyrtc-2013"))
      // Any document of the server has the server's origin.
      try await page.open(server.pageAddress + "style.css")
      _ = try await page.evaluate("sky.join('\(server.address)', '100')")
      if offerer == .bot { _ = try await scenario.bot(in: "100", of: server, ["--loopback"]) }
      let bot = try await eventually("an open channel", within: .seconds(15)) {
        let labels = try await page.evaluate("sky.opened").list
        return labels.isEmpty ? nil : try await page.evaluate("Object.keys(sky.channels)[0]").string
      }
      var fastest = 0.0
      // Browser and bot share the processors, so one transfer says little about what they can do.
      let labels = ["undefined", "'of the page'"] + (3...8).map { "'transfer \($0)'" }
      for (number, label) in labels.enumerated()
      where number < 2 || fastest <= 50e6 {
        let found = try await page.evaluate(
          "sky.stress('\(bot)', { count: 1000, most: 262144, label: \(label) })", within: .seconds(60))
        let bytes = try #require(found["bytes"].double)
        let seconds = try #require(found["seconds"].double)
        await scenario.note(
          String(
            format: "measured: 1,000 messages, %.1f MB in each direction in %.2f s: %.0f Mb/s", bytes / 1e6, seconds,
            bytes * 8 / seconds / 1e6))
        fastest = max(fastest, bytes * 8 / seconds)
      }
      // Two connections of the same page say what the browser can do on this machine.
      if fastest <= 50e6 {
        let found = try await page.evaluate("sky.stressWithin({ count: 1000, most: 262144 })", within: .seconds(60))
        let floor = try #require(found["bytes"].double) * 8 / (try #require(found["seconds"].double))
        await scenario.note(String(format: "measured: two connections of the page: %.0f Mb/s", floor / 1e6))
        #expect(fastest > 0.6 * floor, .onQuietMachine("50 Mb/s, or 0.6 of what the browser reaches with itself"))
      }
      #expect(try await page.evaluate("sky.opened").list.count == 1)
      let errors = await page.errors
      #expect(errors == [])
    }
  }
}
