import Foundation
import TestSupport
import Testing

extension EndToEndWithoutBrowsers {
  /// Data channels with aiortc, which has an SCTP implementation of its own.
  @Suite("data channels with another SCTP implementation") struct DataChannelInteropTests {
    /// The `max-message-size` that aiortc announces: nothing larger may be sent back to it.
    private static let largest = 65_536

    @Test(
      "1,000 messages of 1 B to 64 KiB of aiortc come back once and in order, on a channel opened by either side",
      arguments: [true, false])
    func exchange(offers: Bool) async throws {
      try #require(InteropPeer.Stack.aiortc.isInstalled, "aiortc is not installed; `make test` installs it")
      let opener = offers ? "aiortc" : "the bot"
      try await Scenario.run("45 data channel of aiortc opened by \(opener)", limit: .seconds(120)) { scenario in
        let server = try await scenario.server()
        // The second one to join sends the offer. The bot opens a channel where it does.
        if offers { _ = try await scenario.bot(in: "100", of: server, ["--loopback"]) }
        let label: JSON = offers ? "of aiortc" : .null
        let peer = try await InteropPeer(
          .aiortc, joining: "100", of: server, in: scenario, offers: offers,
          data: ["messages": 1000, "largest": .number(Double(Self.largest)), "label": label])
        if !offers { _ = try await scenario.bot(in: "100", of: server, ["--loopback"]) }
        let line = try await Self.line("exchange", of: peer, within: .seconds(90))
        let result = line["exchange"]
        let (bytes, seconds) = (result["bytes"].double ?? .nan, result["seconds"].double ?? .nan)
        await scenario.note(
          String(
            format: "measured: 1,000 messages, %.1f MB in each direction in %.1f s: %.1f Mb/s", bytes / 1e6, seconds,
            bytes * 8 / seconds / 1e6))
        #expect(result["error"] == .null)
        #expect(result["returned"] == 1000)
        #expect(line["label"] == (offers ? "of aiortc" : "undefined"))
        await peer.leave()
      }
    }

    @Test("aiortc receives what the bot says on the bot's channel, and the bot what aiortc answers on it")
    func chat() async throws {
      try #require(InteropPeer.Stack.aiortc.isInstalled, "aiortc is not installed; `make test` installs it")
      try await Scenario.run("45b chat with aiortc") { scenario in
        let server = try await scenario.server()
        let peer = try await InteropPeer(
          .aiortc, joining: "100", of: server, in: scenario, offers: false,
          data: ["reply": #"{"type":"__msg","data":"heard"}"#])
        let texts = ["one", "zwei ❤ \"quoted\""]
        let bot = try await scenario.bot(in: "100", of: server, texts.flatMap { ["--say", $0] })
        let messages = try await eventually("what the bot says", within: .seconds(15)) {
          let messages = peer.dataLines.compactMap { $0["message"].string }
          return messages.count >= texts.count ? messages : nil
        }
        #expect(try messages.map { try JSON(parsing: $0) } == texts.map { ["type": "__msg", "data": .string($0)] })
        #expect(peer.dataLines.first == ["channel": "undefined"])
        try await scenario.logged("heard", by: bot)
        await peer.leave()
        #expect(try await bot.terminate().ending == .exit(0))
      }
    }

    private static func line(_ name: String, of peer: InteropPeer, within limit: Duration) async throws -> JSON {
      do {
        return try await eventually("\(name) line of aiortc", within: limit) {
          peer.dataLines.first { $0[name] != .null }
        }
      } catch {
        await peer.leave()
        throw error
      }
    }
  }
}
