import Foundation
import Logging
import SkyRTC
import TestSupport
import Testing

extension EndToEnd {
  /// The call page without a bot.
  @Suite("call page") struct PageTests {
    @Test("two Chromium pages see and hear each other, and one sees the other leave", .enabled(if: Machine.hasChromium))
    func twoPages() async throws {
      try await Scenario.run("0 two pages of Chromium") { scenario in
        let server = SkyRTCServer(
          configuration: SkyRTCServer.Configuration(host: "127.0.0.1", port: 0),
          logger: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }, on: scenario.network.loops)
        let address = try await server.start()
        let browser = try await scenario.chromium()
        let pages = try await [
          scenario.page(of: browser, camera: .flashing), scenario.page(of: browser, camera: .flashing),
        ]
        let calls = pages.map { CallPage(page: $0, browser: browser.name) }
        for call in calls {
          try await call.enter(room: "two", at: address.pageURL)
          try await call.joined()
        }
        for call in calls {
          let report = try await eventually("three flashes and beeps", within: .seconds(15), every: .milliseconds(200))
          {
            try await call.reports().first { $0.flashes.count >= 3 && $0.beeps.count >= 3 }
          }
          #expect(
            report.framesSent > 20 && report.framesDecoded > 20,
            .onQuietMachine("between three flashes the camera has 30 frames"))
        }
        #expect(try await calls[1].reports().first?.offeredAt != nil, "the newcomer sends the offer")
        #expect(try await calls[0].reports().first?.offeredAt == nil, "the first page answers")
        #expect(await server.participants(in: "two").count == 2)

        for call in calls {
          try await eventually("path of the call", within: .seconds(5)) {
            try await call.paths() == ["direct"] ? true : nil
          }
        }
        try await pages[1].screenshot().write(to: scenario.folder.appendingPathComponent("call.png"))
        _ = try await pages[1].evaluate("call.leave()")
        try await eventually("farewell", within: .seconds(5)) {
          try await pages[0].evaluate("document.querySelectorAll('#tiles > .tile').length") == 1 ? true : nil
        }
        for page in pages { #expect(await page.errors == []) }
        await server.shutdown()
      }
    }
  }
}
