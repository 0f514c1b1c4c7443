public import Foundation
import MachineStalls
import Media
import NIOPosix
import Synchronization
public import Testing

/// Runs each test beside a stall meter, and again if it failed and the machine, or other tests, may be the cause: see
/// `RetryRule`. The first attempt may run concurrently with tests of other suites, all others run alone.
///
/// Failures of an attempt that is repeated are printed and not recorded. If `CHATBOT_JOURNAL` names a file, the result of
/// each test is appended to it.
public struct RealTimeScenarios: TestTrait, SuiteTrait, TestScoping {
  /// The number of the current test's attempt, from 1.
  @TaskLocal public static var attempt = 1

  public var isRecursive: Bool { true }

  private let start: @Sendable () -> StallMeter?
  private let journal: URL?
  private let maximumRests: Int
  private let turns: ScenarioTurns

  /// - Parameters:
  ///   - journal: The file to which a line is appended for each test.
  ///   - maximumRests: How often to wait 3 s for a quiet machine before another attempt.
  ///   - turns: Decides which tests run concurrently.
  ///   - start: Starts a meter.
  public init(
    journal: URL? = ProcessInfo.processInfo.environment["CHATBOT_JOURNAL"].map { URL(fileURLWithPath: $0) },
    maximumRests: Int = 10, turns: ScenarioTurns = .shared,
    start: @escaping @Sendable () -> StallMeter? = StallMeter.start
  ) {
    self.maximumRests = maximumRests
    self.journal = journal
    self.turns = turns
    self.start = start
  }

  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    var attempts: [ScenarioRecord.Attempt] = []
    var judged: [RetryRule.Attempt] = []
    while true {
      let number = attempts.count + 1
      var ((attempt, failures), ranBesideOthers) = await turns.run(alone: number > 1) {
        if number > 1 { await awaitRest() }
        return await self.attempt(number, at: test, testCase, performing: function)
      }
      judged.append(
        RetryRule.Attempt(
          failures: Set(failures.map(\.identity)),
          needingQuiet: Set(failures.filter(\.needsQuietMachine).map(\.identity)), ranBesideOthers: ranBesideOthers,
          stalls: attempt.stalls))
      attempt.isExcusedByOthers = judged.last?.isExcusedByOthers == true
      attempts.append(attempt)
      switch RetryRule.decide(after: judged) {
      case .passed:
        return write(.passed, attempts, of: test)
      case .runAgain where failures.isEmpty:
        continue
      case .runAgain:
        let place = attempt.isExcusedByOthers ? "beside other tests" : "on a machine that stalled"
        Self.tell("attempt \(attempts.count) failed \(place)", attempt, of: test)
      case .notJudged:
        Self.tell("not judged on this machine", attempt, of: test)
        return write(.notJudged, attempts, of: test)
      case .failed(let reason):
        write(.failed, attempts, of: test)
        switch reason {
        case .inEveryAttempt(let constant):
          Self.tell("failed in every attempt: \(constant.sorted().joined(separator: "; "))", attempt, of: test)
        case .onQuietMachine:
          Self.tell("failed on a machine that did not stall", attempt, of: test)
        }
        for failure in failures {
          Issue.record(Comment(rawValue: failure.text), sourceLocation: failure.location ?? test.sourceLocation)
        }
        return
      }
    }
  }

  /// Waits until the machine is quiet for some seconds, for a limited time: stalls occur in bursts.
  private func awaitRest() async {
    for _ in 0..<maximumRests {
      guard let meter = start() else { return }
      try? await MultiThreadedEventLoopGroup.singleton.any().sleep(for: Self.rest)
      if await meter.stop()?.isStalled != true { return }
    }
  }

  private static let rest = Duration.seconds(3)

  private struct Failure: Sendable {
    let text: String
    /// The text that distinguishes it from other failures on the same line.
    private let name: String
    let location: SourceLocation?

    init(_ issue: Issue) {
      let comments = issue.comments.map(\.rawValue)
      text = "\(issue)"
      name = comments.joined(separator: " // ")
      location = issue.sourceLocation
    }

    init(_ error: any Error) {
      text = "\(type(of: error)): \(error)"
      name = text
      location = nil
    }

    var description: String { (location.map { "\($0.fileName):\($0.line): " } ?? "") + text }

    var needsQuietMachine: Bool { text.contains(Comment.quietMachine) }

    /// The expectation's position and comment, or the error, without numbers: the same in every attempt.
    var identity: String {
      let position = location.map { "\($0.fileID):\($0.line):\($0.column) " } ?? ""
      return position + name.replacing(/\d+(\.\d+)?/, with: "#")
    }
  }

  private func attempt(
    _ number: Int, at test: Test, _ testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async -> (ScenarioRecord.Attempt, [Failure]) {
    let failures = Mutex<[Failure]>([])
    let meter = start()
    // Its first figures show that it has started, so that it measures the beginning of the test as well.
    _ = await meter?.figures()
    let begun = ContinuousClock.now
    // An issue that is removed here is not recorded.
    let collecting = IssueHandlingTrait.compactMapIssues { issue in
      failures.withLock { $0.append(Failure(issue)) }
      return nil
    }
    do {
      try await Self.$attempt.withValue(number) {
        try await StallMeter.$current.withValue(meter) {
          try await withTaskExecutorPreference(ScenarioThreads.shared) {
            try await collecting.provideScope(for: test, testCase: testCase, performing: function)
          }
        }
      }
    } catch is ExpectationFailedError {
      // The issue itself was collected.
    } catch {
      failures.withLock { $0.append(Failure(error)) }
    }
    let duration = begun.duration(to: .now)
    let stalls = await meter?.stop()
    let all = failures.withLock { $0 }
    let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    return (.init(duration: seconds, failures: all.map(\.description), stalls: stalls), all)
  }

  private func write(_ outcome: ScenarioRecord.Outcome, _ attempts: [ScenarioRecord.Attempt], of test: Test) {
    guard let journal else { return }
    let name = test.displayName ?? test.name
    guard let line = try? ScenarioRecord(name: name, outcome: outcome, attempts: attempts).line else { return }
    // A single write with O_APPEND, so that records of other processes are not mixed with it.
    let file = open(journal.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    let bytes = Array((line + "\n").utf8)
    _ = Foundation.write(file, bytes, bytes.count)
    close(file)
  }

  private static func tell(_ what: String, _ attempt: ScenarioRecord.Attempt, of test: Test) {
    print("   \(test.displayName ?? test.name): \(what)")
    for failure in attempt.failures.prefix(8) { print("      \(failure.prefix(400))") }
    guard let stalls = attempt.stalls else { return print("      the machine was not measured") }
    print("      " + ([stalls.description] + stalls.excesses).joined(separator: "; "))
  }
}

extension Comment {
  fileprivate static let quietMachine = "(on a quiet machine)"

  /// Marks an expectation that depends on the CPU time that other programs leave, such as a browser's frame rate: see
  /// `RetryRule`.
  public static func onQuietMachine(_ text: String) -> Comment { Comment(rawValue: "\(text) \(quietMachine)") }
}

extension Trait where Self == RealTimeScenarios {
  /// Runs each test beside a stall meter, and again if it failed and the machine, or other tests, may be the cause.
  public static var realTime: Self { RealTimeScenarios() }
}
