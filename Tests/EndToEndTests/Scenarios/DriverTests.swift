import Foundation
import Testing

extension EndToEnd {
  /// The browser drivers on their own: if these fail, the other tests prove nothing about the program.
  @Suite("browser drivers") struct DriverTests {
    @Test("Chromium calls itself, and its own video and audio are measured", .enabled(if: Machine.hasChromium))
    func chromiumCallsItself() async throws {
      try await Scenario.run("driver of Chromium") { scenario in
        try await callItself(in: scenario.chromium(), hearing: true, scenario)
      }
    }

    @Test("Firefox calls itself in an isolated network", .enabled(if: Machine.hasFirefox))
    func firefoxCallsItself() async throws {
      try await Scenario.run("driver of Firefox", isolated: true) { scenario in
        try await callItself(in: scenario.firefox(), hearing: false, scenario)
      }
    }

    private func callItself(in browser: some Browser, hearing: Bool, _ scenario: Scenario) async throws {
      let page = try await scenario.page(of: browser, camera: .flashing)
      try await page.open(Pages.url("loopback.html").absoluteString)
      _ = try await page.evaluate("callMyself()")
      let call = CallPage(page: page, browser: browser.name)
      let callee = try await eventually("four flashes and beeps", within: .seconds(20), every: .milliseconds(200)) {
        try await call.reports().last.flatMap { $0.flashes.count >= 4 && ($0.beeps.count >= 4 || !hearing) ? $0 : nil }
      }
      let caller = try #require(try await call.reports().first)
      let offered = try #require(caller.offeredAt)
      let pictured = try #require(callee.firstVideoFrameAt)
      await scenario.note("offer to first frame \(Int(pictured - offered)) ms; \(caller.sentSize) sent")
      // Four seconds of the camera have 60 frames; a busy machine captures fewer.
      #expect(caller.framesSent > 15)
      #expect(caller.audioPacketsSent > 50)
      #expect(callee.videoFramesShown > 15)
      if hearing {
        let offsets = callee.flashes.compactMap { flash in
          callee.beeps.map { $0 - flash }.min { abs($0) < abs($1) }
        }
        await scenario.note("audio heard after video by \(offsets.map { Int($0) }) ms")
      }
      #expect(await page.errors == [])
    }
  }
}
