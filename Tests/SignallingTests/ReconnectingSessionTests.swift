import Media
import Signalling
import Synchronization
import TestSupport
import Testing

@Suite("Reconnecting session", .timeLimit(.minutes(1)))
struct ReconnectingSessionTests {
  private typealias End = ReconnectionState.ConnectionEnd

  /// A clock that only waits move.
  private final class SimulatedClock: Sendable {
    private let state = Mutex((now: MonotonicInstant(sinceOrigin: .zero), waits: [Duration]()))

    var now: MonotonicInstant { state.withLock { $0.now } }
    var waits: [Duration] { state.withLock { $0.waits } }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    func wait(_ duration: Duration) {
      state.withLock { state in
        state.now += duration
        state.waits.append(duration)
      }
    }
  }

  private static let policy = ReconnectionState.Policy(
    minimumDelay: .seconds(1), maximumDelay: .seconds(600), resetAge: .seconds(5))

  /// A session whose waits take no time.
  private func session(_ clock: SimulatedClock) -> ReconnectingSession {
    ReconnectingSession(
      Self.policy, generator: SeededGenerator(seed: 1), now: { clock.now }, sleep: { clock.wait($0) })
  }

  @Test("losses are delivered in order with the waits that follow them, until the server refuses us")
  func losses() async {
    let clock = SimulatedClock()
    var attempts = 0
    var used: [Int] = []
    var events: [SignallingEvent] = []
    await session(clock).run(
      from: 0,
      connect: { () async throws(End) -> Int in
        attempts += 1
        if attempts < 3 { throw .lost(reason: "Unreachable \(attempts).") }
        return attempts
      },
      follow: { number in
        used.append(number)
        clock.advance(by: .seconds(5))
        return number < 4 ? .lost(reason: "Lost \(number).") : .rejected(reason: "No.")
      },
      deliver: { events.append($0) })
    #expect(used == [0, 3, 4] && attempts == 4)
    var generator = SeededGenerator(seed: 1)
    var backoff = ReconnectBackoff(minimum: .seconds(1), maximum: .seconds(600))
    var expected: [SignallingEvent] = []
    for reason in ["Lost 0.", "Unreachable 1.", "Unreachable 2.", "Lost 3."] {
      if reason == "Lost 3." { backoff.reset() }
      expected.append(.connectionLost(reason: reason, retryAfter: backoff.next(using: &generator)))
    }
    #expect(events == expected + [.rejected(reason: "No.")])
    let waits = expected.map { if case .connectionLost(_, let wait) = $0 { wait } else { Duration.zero } }
    #expect(clock.waits == waits)
  }

  @Test("leaving while connected delivers nothing more and connects no more")
  func leavingConnected() async {
    let session = session(SimulatedClock())
    var events: [SignallingEvent] = []
    await session.run(
      from: 0,
      connect: { () async throws(End) -> Int in
        Issue.record("There is a further attempt.")
        throw .finished
      },
      follow: { _ in
        session.leave()
        return .lost(reason: "We closed the connection.")
      },
      deliver: { events.append($0) })
    #expect(events.isEmpty)
  }

  @Test("a connection that opens while the owner leaves is closed, and no other is opened", arguments: [true, false])
  func leavingWhileConnecting(isReached: Bool) async {
    let session = session(SimulatedClock())
    var attempts = 0
    var used: [Int] = []
    var events: [SignallingEvent] = []
    await session.run(
      from: 0,
      connect: { () async throws(End) -> Int in
        attempts += 1
        session.leave()
        if !isReached { throw .lost(reason: "Unreachable.") }
        return attempts
      },
      follow: { number in
        used.append(number)
        return .lost(reason: "Lost.")
      },
      deliver: { events.append($0) })
    #expect(attempts == 1 && used == (isReached ? [0, 1] : [0]) && events.count == 1)
  }

  @Test("a first connection that opens after the owner has left is closed")
  func leavingBefore() async {
    let session = session(SimulatedClock())
    session.leave()
    var used = 0
    await session.run(
      from: 0,
      connect: { () async throws(End) -> Int in throw .lost(reason: "A further attempt.") },
      follow: { _ in
        used += 1
        return .lost(reason: "Lost.")
      },
      deliver: { Issue.record("\($0)") })
    #expect(used == 1)
  }

  @Test("leaving ends a wait at once, and so does the cancellation of the task", arguments: [true, false])
  func leavingWhileWaiting(isCancelled: Bool) async {
    let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
    let session = ReconnectingSession(Self.policy) { _ in
      waiting.yield()
      while !Task.isCancelled { await Task.yield() }
    }
    let running = Task {
      var attempts = 0
      await session.run(
        from: 0,
        connect: { () async throws(End) -> Int in
          attempts += 1
          throw .lost(reason: "Unreachable.")
        },
        follow: { _ in .lost(reason: "Lost.") },
        deliver: { _ in })
      return attempts
    }
    for await _ in waits { break }
    if isCancelled { running.cancel() } else { session.leave() }
    #expect(await running.value == 0)
  }

  @Test("a request for an attempt shortens a wait to the minimum, and another one changes nothing")
  func shortenedWait() async {
    let clock = SimulatedClock()
    let shared = Mutex<ReconnectingSession?>(nil)
    let session = ReconnectingSession(
      Self.policy, now: { clock.now },
      sleep: { duration in
        shared.withLock { $0 }?.shortenWait()
        shared.withLock { $0 }?.shortenWait()
        clock.advance(by: .milliseconds(600))
        // The first request ends the long wait; the rest of the shortened one passes.
        while duration > .seconds(1), !Task.isCancelled { await Task.yield() }
      })
    shared.withLock { $0 = session }
    var attempts: [MonotonicInstant] = []
    await session.run(
      from: 0,
      connect: { () async throws(End) -> Int in
        attempts.append(clock.now)
        if attempts.count == 3 { throw .finished }
        throw .lost(reason: "Unreachable.", delay: .backoff(atLeast: .seconds(60)))
      },
      follow: { _ in .lost(reason: "Lost.", delay: .backoff(atLeast: .seconds(60))) },
      deliver: { _ in })
    shared.withLock { $0 = nil }
    let start = MonotonicInstant(sinceOrigin: .zero)
    #expect(attempts == [1_200, 2_400, 3_600].map { start + .milliseconds($0) })
  }
}
