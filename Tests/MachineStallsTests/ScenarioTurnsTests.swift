import Synchronization
import TestSupport
import Testing

/// Which scenarios run concurrently.
@Suite("Turns of real-time scenarios") struct ScenarioTurnsTests {
  /// The start and end events, in order.
  private final class Events: Sendable {
    private let all = Mutex<[String]>([])

    var list: [String] { all.withLock { $0 } }

    func add(_ event: String) { all.withLock { $0.append(event) } }

    func reached(_ count: Int) async throws {
      while list.count < count { try await Task.sleep(for: .milliseconds(1)) }
    }
  }

  @Test(
    "first attempts run concurrently, and an attempt that must run alone waits for them and delays later ones",
    .timeLimit(.minutes(1)))
  func order() async throws {
    let (turns, events) = (ScenarioTurns(), Events())
    let (ends, endFirst) = AsyncStream<Void>.makeStream()
    let ranBesideOthers = Mutex<Set<String>>([])
    let scenario = { @Sendable (name: String, alone: Bool) async in
      let (_, others) = await turns.run(alone: alone) {
        events.add("\(name) begins")
        if name == "first" { for await _ in ends { break } }
        events.add("\(name) ends")
      }
      if others { ranBesideOthers.withLock { _ = $0.insert(name) } }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await scenario("first", false) }
      try await events.reached(1)
      group.addTask { await scenario("beside", false) }
      try await events.reached(3)
      group.addTask { await scenario("alone", true) }
      while await turns.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
      group.addTask { await scenario("late", false) }
      while await turns.waitingCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
      endFirst.yield()
      try await group.waitForAll()
    }
    let expected = [
      "first begins", "beside begins", "beside ends", "first ends", "alone begins", "alone ends", "late begins",
      "late ends",
    ]
    #expect(events.list == expected)
    #expect(ranBesideOthers.withLock { $0 } == ["first", "beside"])
  }
}
