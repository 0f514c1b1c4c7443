import Foundation
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

extension EndToEnd {
  /// Calls over an impaired network with a round-trip time of 50 ms.
  @Suite("a call over an impaired network") struct LossTests {
    typealias Conditions = Impairment.Conditions

    @Test(
      "with 5 and 10 % random loss and 10 % loss in bursts, all video packets are recovered",
      .enabled(if: Machine.hasChromium))
    func chromiumUnderLoss() async throws {
      try await Scenario.run("10 loss") { scenario in
        let half = ImpairedCall.halfRoundTrip
        let lines: [(room: String, conditions: Conditions)] = [
          ("random-5", Conditions(loss: 0.05, delay: half)),
          ("random-10", Conditions(loss: 0.10, delay: half)),
          ("bursts-10", Conditions(loss: 0.10, burst: 4, delay: half)),
        ]
        try await sideBySide(
          lines, by: scenario.chromium(), camera: .spottedFlashing, in: scenario
        ) { relay, conditions in
          await relay.impair(conditions)
          try await sleepOnEventLoop(for: .seconds(8))
        } judge: { outcome, judgement, _ in
          try await expectAllRecovered(outcome, judgement)
        }
      }
    }

    @Test("with 5 % random loss all video packets of Firefox are recovered", .enabled(if: Machine.hasFirefox))
    func firefoxUnderLoss() async throws {
      try await Scenario.run("10b loss with Firefox", isolated: true) { scenario in
        let lines = [(room: "firefox-5", conditions: Conditions(loss: 0.05, delay: ImpairedCall.halfRoundTrip))]
        try await sideBySide(
          lines, by: scenario.firefox(hidesAddresses: false), camera: .spottedFlashing, in: scenario
        ) { relay, conditions in
          await relay.impair(conditions)
          try await sleepOnEventLoop(for: .seconds(8))
        } judge: { outcome, judgement, _ in
          try await expectAllRecovered(outcome, judgement)
        }
      }
    }

    @Test("with 5 % random loss all packets of VP9 are recovered", .enabled(if: Machine.hasChromium))
    func vp9UnderLoss() async throws {
      try await Scenario.run("10c loss with VP9") { scenario in
        let lines = [(room: "vp9-5", conditions: Conditions(loss: 0.05, delay: ImpairedCall.halfRoundTrip))]
        try await sideBySide(
          lines, by: scenario.chromium(), camera: .spottedFlashing, ["--video-codecs", "vp9"], in: scenario
        ) { relay, conditions in
          await relay.impair(conditions)
          try await sleepOnEventLoop(for: .seconds(8))
        } judge: { outcome, judgement, _ in
          var judgement = judgement
          judgement.videoCodec = "vp9"
          try await expectAllRecovered(outcome, judgement)
        }
      }
    }

    @Test(
      "with 30 % random loss the recording decodes, is in sync and has the right length",
      .enabled(if: Machine.hasChromium))
    func heavyLoss() async throws {
      let seconds = Soak.minutes == nil ? 10 : 60
      try await Scenario.run("11 30 percent loss", limit: .seconds(90 + seconds)) { scenario in
        let lines = [(room: "random-30", conditions: Conditions(loss: 0.30, delay: ImpairedCall.halfRoundTrip))]
        try await sideBySide(lines, by: scenario.chromium(), in: scenario) { relay, conditions in
          await relay.impair(conditions)
          try await sleepOnEventLoop(for: .seconds(seconds))
        } judge: { outcome, judgement, _ in
          try judgement.expectValidFiles()
          try await judgement.expectSentLength(of: outcome)
          try await judgement.expectInStep(within: 0.040)
          // Chromium offers RED with this payload type, and sends it because our answer has it before Opus.
          #expect(outcome.source("audio")?.payloadType == 63)
          let audio = outcome.track("audio")
          await scenario.note(
            """
            measured: \(audio["lost"].int ?? 0) packets of audio lost, \(audio["repairedByRedundancy"].int ?? 0) of them \
            repaired by RED
            """)
          #expect(audio["repairedByRedundancy"].int ?? 0 > 0)
          for kind in ["audio", "video"] { try await judgement.expectSums(of: kind, in: outcome) }
        }
      }
    }

    @Test(
      "recording recovers within 2 s from an outage of 500 ms, a delay of 500 ms and a limit of 300 kb/s",
      .enabled(if: Machine.hasChromium))
    func disturbances() async throws {
      try await Scenario.run("12 disturbances") { scenario in
        let half = ImpairedCall.halfRoundTrip
        let lines: [(room: String, conditions: Conditions)] = [
          ("outage", Conditions(loss: 1)), ("delay", Conditions(delay: .milliseconds(500))),
          ("limit", Conditions(delay: half, rate: 300_000)),
        ]
        try await sideBySide(
          lines, by: scenario.chromium(), camera: .noisyFlashing, in: scenario
        ) { relay, conditions in
          try await sleepOnEventLoop(for: .seconds(2))
          if conditions.loss == 1 {
            try await relay.interrupt(for: .milliseconds(500))
            try await sleepOnEventLoop(for: .milliseconds(6500))
          } else {
            await relay.impair(conditions, .toProgram)
            try await sleepOnEventLoop(for: .seconds(7))
          }
        } judge: { outcome, judgement, begun in
          try judgement.expectValidFiles()
          try await judgement.expectRecovery(from: begun + 2, of: outcome)
          for kind in ["audio", "video"] { try await judgement.expectSums(of: kind, in: outcome) }
        }
      }
    }

    /// Runs one call for each line at the same time, each with its own page, relay and recording bot.
    ///
    /// - Parameters:
    ///   - arguments: further ones of the bot.
    ///   - impair: changes the network of a call that was good for a second.
    ///   - judge: receives the outcome, and the start of the impairment in seconds since 1970.
    private func sideBySide(
      _ lines: [(room: String, conditions: Conditions)], by browser: some Browser, camera: Camera = .flashing,
      _ arguments: [String] = [], in scenario: Scenario,
      impair: @escaping @Sendable (LossyRelay, Conditions) async throws -> Void,
      judge: @escaping @Sendable (ImpairedCall.Outcome, Judgement, Double) async throws -> Void
    ) async throws {
      let server = try await scenario.server()
      var calls: [ImpairedCall] = []
      for (index, line) in lines.enumerated() {
        calls.append(
          try await .begin(
            in: line.room, of: server, by: browser, camera: camera, seed: UInt64(100 + index), arguments, scenario))
      }
      try await sleepOnEventLoop(for: .seconds(1))
      let begun = Date().timeIntervalSince1970
      let outcomes = try await withThrowingTaskGroup(of: (Int, ImpairedCall.Outcome).self) { group in
        for (index, call) in calls.enumerated() {
          let conditions = lines[index].conditions
          group.addTask {
            try await impair(call.relay, conditions)
            return (index, try await call.finish())
          }
        }
        return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
      }
      for (index, call) in calls.enumerated() {
        let lost = await call.relay.counts(.toProgram)
        await scenario.note(
          "\(lines[index].room): \(lost.lost + lost.droppedByQueue) of \(lost.datagrams) datagrams to the bot were lost"
        )
      }
      let rooms = lines.map(\.room)
      _ = try await concurrently(Array(calls.indices)) { index in
        let outcome = try #require(outcomes[index])
        let judgement = Judgement(userRecording: outcome.userRecording, scenario: scenario, name: rooms[index])
        try await judge(outcome, judgement, begun)
      }
    }

    private func expectAllRecovered(_ outcome: ImpairedCall.Outcome, _ judgement: Judgement) async throws {
      let stopped = outcome.stoppedAt
      let begun = outcome.report.json["offeredAt"].double ?? outcome.report.json["answeredAt"].double ?? .nan
      let length = (stopped - (try #require(outcome.report.connectedAt))) / 1000
      let lengths = length...max(length, (stopped - begun) / 1000)
      let sent = try #require(outcome.source("video")?.frames.count)
      try await judgement.expectGood(of: outcome.report, lengths: lengths, framesSent: sent)
      let recorded = judgement.userRecording.webm.video?.times.count ?? 0
      #expect((sent - 1...sent).contains(recorded), "each frame is recorded, except perhaps the last one at the leave")
      try await judgement.expectSentLength(of: outcome)
      try await judgement.expectInStep()
      let video = outcome.track("video")
      #expect(video["lost"] == 0, "100 % of video packets are recovered")
      #expect(video["dropped"] == 0)
      #expect(video["recovered"].int ?? 0 > 3, "some packets had to be recovered")
      for kind in ["audio", "video"] { try await judgement.expectSums(of: kind, in: outcome) }
    }
  }
}
