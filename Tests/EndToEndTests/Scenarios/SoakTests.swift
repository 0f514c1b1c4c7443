import Foundation
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

extension EndToEnd {
  /// A long-running recording bot, with participants that join and leave over a network that changes every few seconds.
  @Suite("soak", .enabled(if: Soak.minutes != nil)) struct SoakTests {
    /// The allowed growth of memory in MiB: the C library does not return all freed memory.
    static let margin = 24.0

    @Test("after joins, leaves and impairment, memory and descriptors return to their start, and all recordings decode")
    func soak() async throws {
      let minutes = Soak.minutes ?? 0
      let length = Duration.seconds(60 * minutes)
      try await Scenario.run("soak", limit: length + .seconds(600)) { scenario in
        let server = try await scenario.server()
        let relay = try await scenario.relay(to: server, seed: 30)
        let folder = await scenario.recordings()
        let recorder = try await scenario.bot(in: "soak", of: server, via: relay, ["--record", folder.path])
        let crowd = try await SoakCrowd(server: server, scenario: scenario)
        let judge = SoakJudge(folder: folder, scenario: scenario)
        let begun = ContinuousClock.now
        let line = Task { try await Self.worsen(relay) }
        defer { line.cancel() }

        // Everything that is created once exists at the end of the first part.
        try await Self.churn(crowd, until: begun + length / 5, judge, recorder, relay)
        let before = try await Self.figuresAtRest(crowd, recorder)
        await scenario.note("measured: at rest after \(Self.since(begun)): \(before)")
        try await Self.churn(crowd, until: begun + length, judge, recorder, relay)
        let after = try await Self.figuresAtRest(crowd, recorder)
        await scenario.note("measured: at rest after \(Self.since(begun)): \(after)")

        #expect(after.memory <= before.memory + Self.margin, "memory is back")
        #expect(after.descriptors <= before.descriptors, "descriptors are back")
        #expect(after.threads <= before.threads, "threads are back")
        #expect(recorder.isRunning)
        #expect(try await recorder.terminate().ending == .exit(0))
        try await judge.checkFinished()
        let verdict = await judge.verdict
        let lost = await relay.counts(.toProgram)
        await scenario.note(
          "measured: \(verdict.recordings) recordings, all decoded; \(lost.lost + lost.droppedByQueue) of \(lost.datagrams) datagrams lost"
        )
        #expect(verdict.recordings > 0)
        #expect(verdict.complaints == [])
      }
    }

    /// Lets participants join and leave until `end`, and reports each minute.
    private static func churn(
      _ crowd: SoakCrowd, until end: ContinuousClock.Instant, _ judge: SoakJudge, _ recorder: Bot, _ relay: LossyRelay
    ) async throws {
      var reported = ContinuousClock.now
      while ContinuousClock.now < end {
        try await crowd.step()
        try await sleepOnEventLoop(for: .seconds(1))
        guard recorder.isRunning else {
          throw NotStarted(name: "the recorder that should still run", output: recorder.output)
        }
        guard ContinuousClock.now - reported >= .seconds(60) else { continue }
        reported += .seconds(60)
        try await judge.checkFinished()
        let figures = ProcessFigures(of: recorder.process.id).map { "\($0)" } ?? "gone"
        let (people, recordings) = (await crowd.count, await judge.verdict.recordings)
        await judge.scenario.note("\(figures), \(people) participants, \(recordings) recordings decoded")
      }
    }

    /// Returns the recorder's resources when all participants have left.
    private static func figuresAtRest(_ crowd: SoakCrowd, _ recorder: Bot) async throws -> ProcessFigures {
      try await crowd.leaveAll()
      try await sleepOnEventLoop(for: .seconds(10))
      guard let figures = ProcessFigures(of: recorder.process.id) else {
        throw NotStarted(name: "the recorder that should still run", output: recorder.output)
      }
      return figures
    }

    /// Changes the network conditions every few seconds, by a seed.
    private static func worsen(_ relay: LossyRelay) async throws {
      var generator = SeededGenerator(seed: 31)
      let reordering = Impairment.Conditions(
        delay: .milliseconds(25), jitter: .milliseconds(10), reorder: 0.1, duplicate: 0.05)
      let lines: [Impairment.Conditions] = [
        .init(), .init(delay: .milliseconds(25)), .init(loss: 0.01), .init(loss: 0.05, delay: .milliseconds(25)),
        .init(loss: 0.10, delay: .milliseconds(25)), .init(loss: 0.30, delay: .milliseconds(25)),
        .init(loss: 0.10, burst: 4, delay: .milliseconds(25)), reordering,
        .init(delay: .milliseconds(500)), .init(delay: .milliseconds(25), rate: 300_000), .init(loss: 1),
      ]
      while true {
        let line = lines.randomElement(using: &generator) ?? .init()
        await relay.impair(line)
        try await sleepOnEventLoop(
          for: line.loss == 1 ? .seconds(2) : .seconds(Int.random(in: 3...15, using: &generator)))
      }
    }

    private static func since(_ begun: ContinuousClock.Instant) -> String {
      String(format: "%.1f min", (ContinuousClock.now - begun).inSeconds / 60)
    }
  }
}
