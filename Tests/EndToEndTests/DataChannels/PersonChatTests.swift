import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// Text with apps that call each other by name, each of which receives on its own channel and sends on the other's.
  @Suite("text with apps that call by name") struct PersonChatTests {
    @Test(
      "the bot reads the app's text on its own channel and writes on the app's, whichever side calls",
      .enabled(if: Machine.hasChromium), arguments: [true, false])
    func text(appCalls: Bool) async throws {
      try await Scenario.run("47 WebRTCData, \(appCalls ? "the app" : "the bot") calls") { scenario in
        let store = try await Store(in: scenario)
        func startBot() async throws -> Bot {
          try await store.bot(
            "jerry", store.person("jerry", with: "tom", appCalls ? "callee" : "caller"),
            ["--say", "from the bot ❤", "--say", "a second text"])
        }
        let page = try await scenario.page(of: scenario.chromium(), camera: .own)
        try await page.addStartScript(Pages.script("firestore-person"))
        let host = try #require(store.environment["FIRESTORE_EMULATOR_HOST"])
        let documents = "http://\(host)/v1/projects/proj/databases/(default)/documents"
        // Any document of the database's server has its origin.
        try await page.open("\(documents)/tom/none")
        // A caller offers at once, and an offer from before the start is not answered.
        let first = appCalls ? try await startBot() : nil
        _ = try await page.evaluate("void person.start('\(documents)', 'tom', 'jerry', \(appCalls)) ?? null")
        let bot = if let first { first } else { try await startBot() }
        let texts = try await eventually("the bot's text", within: .seconds(20)) {
          let texts = try await page.evaluate("person.received").list.map(\.string)
          return texts.count >= 2 ? texts : nil
        }
        #expect(texts == ["from the bot ❤", "a second text"])
        try await eventually("the bot's channel", within: .seconds(5)) {
          try await page.evaluate("person.other?.readyState") == "open" ? true : nil
        }
        _ = try await page.evaluate("person.say('from the app') ?? null")
        try await scenario.logged("from the app", by: bot)
        #expect(try await page.evaluate("person.labels") == ["WebRTCData"])
        #expect(try await page.evaluate("person.strayed") == [], "the apps do not read the other side's channel")
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }
  }
}
