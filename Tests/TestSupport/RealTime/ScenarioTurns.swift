/// Decides which real-time scenarios may run now: those of several suites concurrently, or one of them alone.
///
/// A scenario that is repeated runs alone, so that it is not judged by the load of another.
public actor ScenarioTurns {
  /// The turns of this test process.
  public static let shared = ScenarioTurns()

  private var running = 0
  /// The number of scenarios that have begun.
  private var begun = 0
  private var isAlone = false
  private var waiting: [(wantsAlone: Bool, begin: CheckedContinuation<Void, Never>)] = []

  public init() {}

  /// The number of scenarios that wait.
  public var waitingCount: Int { waiting.count }

  /// Runs `body` when it is its turn, in the order of the calls.
  ///
  /// - Parameter alone: Whether nothing else may run meanwhile.
  /// - Returns: What `body` returned, and whether others ran meanwhile.
  @discardableResult
  public func run<Result: Sendable>(
    alone: Bool, _ body: @Sendable () async throws -> Result
  ) async rethrows -> (result: Result, ranBesideOthers: Bool) {
    await begin(alone: alone)
    defer { end() }
    let (others, number) = (running - 1, begun)
    let result = try await body()
    return (result, others > 0 || begun > number)
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
    begun += 1
    isAlone = alone
  }
}
