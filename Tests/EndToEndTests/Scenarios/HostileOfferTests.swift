import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// A participant that sends invalid offers.
  @Suite("hostile offers") struct HostileOfferTests {
    @Test(
      "offers without a fingerprint and other invalid offers do not affect another participant's recording",
      .enabled(if: Machine.hasChromium))
    func nonsenseFromAParticipant() async throws {
      try await Scenario.run("bad participant") { scenario in
        let server = try await scenario.server()
        let folder = await scenario.recordings()
        let bot = try await scenario.bot(in: "100", of: server, ["--record", folder.path])
        let call = try await scenario.call(in: scenario.chromium(), room: "100", server: server, camera: .flashing)
        try await call.connected()
        let offer = try await call.page.evaluate("observer.descriptions()[0].local").string ?? ""
        #expect(offer.contains("a=fingerprint"))
        let browserID = try await call.joined()
        let stranger = try await ScriptedParticipant(joining: "100", of: server, in: scenario.network)
        let botID = try #require(stranger.others.first { $0 != browserID })
        let withoutFingerprint = offer.components(separatedBy: "\r\n").filter { !$0.hasPrefix("a=fingerprint") }
          .joined(separator: "\r\n")
        try await stranger.offer(withoutFingerprint, to: botID)
        try await stranger.offer("v=0", to: botID)
        try await stranger.offer(String(repeating: "a=x\r\n", count: 10_000), to: botID)
        try await stranger.send("{\"eventName\":")
        try await sleepOnEventLoop(for: .seconds(5))
        stranger.leave()

        let report = try #require(try await call.leave().first)
        try await sleepOnEventLoop(for: .milliseconds(500))
        #expect(try await bot.terminate().ending == .exit(0))
        #expect(bot.output.localizedCaseInsensitiveContains("fingerprint"), "the reason is logged")
        let userRecordings = try folder.userRecordings()
        #expect(userRecordings.count == 1)
        let judgement = Judgement(
          userRecording: try #require(userRecordings.first), scenario: scenario, name: "Chromium")
        try await judgement.expectGood(of: report)
      }
    }
  }
}
