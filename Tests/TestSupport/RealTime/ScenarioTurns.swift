/// Who may run now: real-time scenarios of several suites beside each other, or one of them alone.
///
/// What failed while others ran beside it is tried again alone, so that no scenario is judged by what another costs.
public actor ScenarioTurns {
  /// Those of this test process.
  public static let shared = ScenarioTurns()

  private var running = 0
  private var isAlone = false
  private var waiting: [(wantsAlone: Bool, begin: CheckedContinuation<Void, Never>)] = []

  public init() {}

  /// How many wait for their turn.
  public var waitingCount: Int { waiting.count }

  /// Runs `body` when it is its turn. Who waits longest is next.
  ///
  /// - Parameter alone: nobody else runs meanwhile.
  public func run<Result: Sendable>(
    alone: Bool, _ body: @Sendable () async throws -> Result
  ) async rethrows -> Result {
    await begin(alone: alone)
    defer { end() }
    return try await body()
  }

  private func begin(alone: Bool) async {
    if waiting.isEmpty && mayBegin(alone: alone) { return count(alone: alone) }
    await withCheckedContinuation { waiting.append((alone, $0)) }
  }

  private func end() {
    running -= 1
    isAlone = false
    while let next = waiting.first, mayBegin(alone: next.wantsAlone) {
      waiting.removeFirst()
      count(alone: next.wantsAlone)
      next.begin.resume()
    }
  }

  private func mayBegin(alone: Bool) -> Bool { !isAlone && (running == 0 || !alone) }

  private func count(alone: Bool) {
    running += 1
    isAlone = alone
  }
}
