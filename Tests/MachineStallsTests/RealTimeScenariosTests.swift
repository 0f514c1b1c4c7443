import Foundation
import MachineStalls
import Synchronization
import TestSupport
import Testing

/// Applies the trait by hand, with the real meter and a machine that is kept busy.
@Suite("Real-time scenarios", .serialized) struct RealTimeScenariosTests {
  /// Runs `body` as a test with the trait would, and returns its journal and the number of failures recorded.
  private static func run(
    _ body: @Sendable (Int) async throws -> Void
  ) async throws -> (records: [ScenarioRecord], recorded: Int) {
    let journal = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jsonl")
    defer { try? FileManager.default.removeItem(at: journal) }
    let test = try #require(Test.current)
    let testCase = try #require(Test.Case.current)
    let recorded = Mutex(0)
    let counting = IssueHandlingTrait.compactMapIssues { _ in
      recorded.withLock { $0 += 1 }
      return nil
    }
    try await counting.provideScope(for: test, testCase: testCase) {
      // Turns of its own, because the test itself may have the only turn of the process.
      let scenarios = RealTimeScenarios(journal: journal, maximumRests: 0, turns: ScenarioTurns())
      try await scenarios.provideScope(for: test, testCase: testCase) { try await body(RealTimeScenarios.attempt) }
    }
    let text = (try? String(contentsOf: journal, encoding: .utf8)) ?? ""
    return (ScenarioRecord.records(in: text), recorded.withLock { $0 })
  }

  /// Keeps every processor busy several times over while `body` runs, and no real-time test of this process beside it.
  private static func underLoad(_ body: @Sendable () async throws -> Void) async throws {
    try await ScenarioTurns.shared.run(alone: true) { try await withBusyProcessors(body) }
  }

  private static func withBusyProcessors(_ body: @Sendable () async throws -> Void) async throws {
    let count = 6 * ProcessInfo.processInfo.activeProcessorCount
    let loops = try (0..<count).map { _ in
      let loop = Process()
      loop.executableURL = URL(fileURLWithPath: "/bin/sh")
      // The limit ends the loop if the test cannot.
      loop.arguments = ["-c", "ulimit -t 60; while :; do :; done"]
      try loop.run()
      return loop
    }
    defer { for loop in loops { kill(loop.processIdentifier, SIGKILL) } }
    try await body()
  }

  @Test("a test that passes is run once and is in the journal with the machine's measurements")
  func passing() async throws {
    // The meter is another process, which starts late on a machine that stalls.
    let (records, recorded) = try await Self.run { _ in try await Task.sleep(for: .seconds(2)) }
    #expect(recorded == 0)
    #expect(records.map(\.outcome) == [.passed])
    let stalls = try #require(records.first?.attempts.first?.stalls)
    #expect(stalls.elapsed > 0.25)
  }

  @Test("the meter detects a busy machine, and reports it while it runs")
  func busy() async throws {
    try await Self.underLoad {
      let meter = try #require(StallMeter.start())
      try await Task.sleep(for: .seconds(3))
      let figures = try #require(await meter.figures())
      #expect(figures.isStalled, "\(figures.description)")
      let last = try #require(await meter.stop())
      #expect(last.elapsed >= figures.elapsed)
    }
  }

  @Test("a test that fails once under load and then passes has passed, and nothing is recorded")
  func excused() async throws {
    try await Self.underLoad {
      let (records, recorded) = try await Self.run { attempt in
        try await Task.sleep(for: .seconds(2))
        #expect(attempt > 1)
      }
      #expect(recorded == 0)
      #expect(records.map(\.outcome) == [.passed])
      #expect(records.first?.attempts.count == 2)
    }
  }

  @Test("a bug under load is a failure after three attempts, and is not excused indefinitely")
  func plantedFault() async throws {
    try await Self.underLoad {
      // The program takes 2 s where 100 ms are allowed, more than any stall that the meter measured.
      let (records, recorded) = try await Self.run { attempt in
        let begun = ContinuousClock.now
        try await Task.sleep(for: .seconds(2))
        let took = begun.duration(to: .now)
        let stall = await StallMeter.longestStall()
        #expect(took < .seconds(0.1 + stall), "\(took) in attempt \(attempt)")
      }
      #expect(recorded == 1)
      #expect(records.map(\.outcome) == [.failed])
      #expect(records.first?.attempts.count == RetryRule.maximumAttempts)
    }
  }

  @Test("different failures under load are not judged, including a thrown error")
  func notJudged() async throws {
    struct Planted: Error {}
    try await Self.underLoad {
      let (records, recorded) = try await Self.run { attempt in
        try await Task.sleep(for: .seconds(2))
        switch attempt {
        case 1: Issue.record("the first")
        case 2: try #require(Bool(false))
        default: throw Planted()
        }
      }
      #expect(recorded == 0)
      #expect(records.map(\.outcome) == [.notJudged])
    }
  }

  @Test("a failure is recorded at once if the machine is not measured")
  func noMeter() async throws {
    let recorded = Mutex(0)
    let counting = IssueHandlingTrait.compactMapIssues { _ in
      recorded.withLock { $0 += 1 }
      return nil
    }
    let test = try #require(Test.current)
    let testCase = try #require(Test.Case.current)
    try await counting.provideScope(for: test, testCase: testCase) {
      try await RealTimeScenarios(journal: nil, start: { nil }).provideScope(for: test, testCase: testCase) {
        Issue.record("planted")
      }
    }
    #expect(recorded.withLock { $0 } == 1)
  }
}
