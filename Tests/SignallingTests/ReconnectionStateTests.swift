import Media
import Signalling
import TestSupport
import Testing

@Suite("Reconnection state")
struct ReconnectionStateTests {
  /// A client on a simulated clock, which does at once what the state says.
  private struct Client {
    static let policy = ReconnectionState.Policy(
      minimumDelay: .milliseconds(500), maximumDelay: .seconds(30), resetAge: .seconds(5))

    var state: ReconnectionState
    var now = MonotonicInstant(sinceOrigin: .seconds(1_000))

    init(seed: UInt64 = 1) {
      state = ReconnectionState(Self.policy, generator: SeededGenerator(seed: seed))
    }

    mutating func next() -> ReconnectionState.Step? { state.next(now: now) }

    mutating func opens() { state.connectionOpened(now: now) }

    mutating func ends(_ end: ReconnectionState.ConnectionEnd) { state.connectionEnded(end, now: now) }

    /// Opens a connection that lasts for a time.
    mutating func stays(for age: Duration) {
      opens()
      now += age
    }

    /// Loses the connection, or fails to connect, and moves the clock to the next attempt.
    ///
    /// - Returns: the wait, or nil if the steps are not those after a loss.
    mutating func loses(_ delay: ReconnectionState.Delay = .backoff()) -> Duration? {
      ends(.lost(reason: "Gone.", delay: delay))
      guard case .deliver(.connectionLost("Gone.", let wait)) = next() else { return nil }
      guard next() == .wait(until: now + wait), state.deadline == now + wait else { return nil }
      now += wait
      return next() == .connect ? wait : nil
    }
  }

  /// The waits of the backoff by itself.
  private func waits(_ count: Int, seed: UInt64) -> [Duration] {
    var generator = SeededGenerator(seed: seed)
    var backoff = ReconnectBackoff(minimum: Client.policy.minimumDelay, maximum: Client.policy.maximumDelay)
    return (0..<count).map { _ in backoff.next(using: &generator) }
  }

  @Test("a client connects, and has nothing to do while the connection is open")
  func connected() {
    var client = Client()
    let first = client.next()
    #expect(first == .connect)
    client.stays(for: .seconds(3_600))
    let second = client.next()
    #expect(second == nil && client.state.deadline == nil)
  }

  @Test("the waits grow from attempt to attempt, with the jitter of the seed")
  func growth() {
    for seed in UInt64(1)...20 {
      var client = Client(seed: seed)
      let seen = (0..<10).map { _ in client.loses() }
      #expect(seen == waits(10, seed: seed))
      for (wait, ceiling) in zip(seen, [1, 2, 4, 8, 16, 30, 30, 30, 30, 30]) {
        #expect(wait.map { $0 >= .milliseconds(500) && $0 <= .seconds(ceiling) } == true)
      }
    }
    #expect(waits(10, seed: 1) != waits(10, seed: 2))
  }

  @Test("the loss of a connection that lasted long enough resets the backoff, and that of a shorter one does not")
  func reset() {
    for (age, isReset) in [(Duration.milliseconds(4_999), false), (.seconds(5), true)] {
      var client = Client(seed: 7)
      for _ in 0..<6 { _ = client.loses() }
      client.stays(for: age)
      let wait = client.loses()
      // The seventh number of the generator; only the ceiling depends on the age.
      let share = (waits(7, seed: 7)[6] - .milliseconds(500)) / Duration.milliseconds(29_500)
      let spread: Duration = isReset ? .milliseconds(500) : .milliseconds(29_500)
      let expected = .milliseconds(500) + spread * share
      #expect(wait.map { abs($0.seconds - expected.seconds) < 0.001 } == true, "\(age)")
    }
  }

  @Test("the time between a failed attempt and the next does not count as a connection")
  func failedAttempts() {
    var client = Client(seed: 3)
    var seen: [Duration?] = []
    for _ in 0..<8 {
      seen.append(client.loses())
      client.now += .seconds(60)
    }
    #expect(seen == waits(8, seed: 3))
  }

  @Test("the wait begins when the loss has been delivered")
  func lateDelivery() {
    var client = Client(seed: 4)
    client.opens()
    client.ends(.lost(reason: "Gone."))
    let event = client.next()
    #expect(event == .deliver(.connectionLost(reason: "Gone.", retryAfter: waits(1, seed: 4)[0])))
    client.now += .seconds(100)
    let wait = client.next()
    #expect(wait == .wait(until: client.now + waits(1, seed: 4)[0]))
    client.now += .milliseconds(1)
    let rest = client.next()
    #expect(rest == wait)
  }

  @Test("a server may ask for a longer wait, but not for a shorter one")
  func retryAfter() {
    var client = Client(seed: 5)
    let long = client.loses(.backoff(atLeast: .seconds(600)))
    let short = client.loses(.backoff(atLeast: .milliseconds(1)))
    #expect(long == .seconds(600) && short == waits(2, seed: 5)[1])
  }

  @Test("an attempt without a wait leaves the backoff as it is")
  func noDelay() {
    var client = Client(seed: 6)
    let none = client.loses(.none)
    let next = client.loses()
    #expect(none == .zero && next == waits(1, seed: 6)[0])
  }

  @Test("an end that the owner reports is waited for without an event")
  func unreported() {
    var client = Client(seed: 8)
    client.opens()
    client.ends(.lost(reason: nil))
    let wait = client.next()
    #expect(wait == .wait(until: client.now + waits(1, seed: 8)[0]))
    client.now += waits(1, seed: 8)[0]
    let attempt = client.next()
    let hasReturned = client.state.connectionOpened(now: client.now)
    #expect(attempt == .connect && !hasReturned)
  }

  @Test("a connection that opens after a reported loss is known as one that returned, once")
  func returned() {
    var client = Client()
    let first = client.state.connectionOpened(now: client.now)
    _ = client.loses()
    _ = client.loses()
    let second = client.state.connectionOpened(now: client.now)
    let third = client.state.connectionOpened(now: client.now)
    #expect(!first && second && !third)
  }

  @Test("the age of a connection that was replaced does not count")
  func replaced() {
    var client = Client(seed: 9)
    _ = client.loses()
    _ = client.loses()
    client.stays(for: .seconds(60))
    client.state.connectionReplaced()
    let step = client.next()
    let wait = client.loses()
    #expect(step == .connect && wait == waits(3, seed: 9)[2])
  }

  @Test("a rejection and a closed room are delivered once and end it")
  func permanentEnds() {
    for (end, event) in [
      (ReconnectionState.ConnectionEnd.rejected(reason: "No."), SignallingEvent.rejected(reason: "No.")),
      (.closed(reason: "Over."), .closed(reason: "Over.")),
    ] {
      for isOpen in [false, true] {
        var client = Client()
        if isOpen { client.opens() }
        client.ends(end)
        let first = client.next()
        #expect(first == .deliver(event))
        expectOver(&client)
      }
    }
    var client = Client()
    client.opens()
    client.ends(.finished)
    expectOver(&client)
  }

  @Test("leaving while connecting, connected, reporting or waiting ends at once, and nothing connects again")
  func leaving() {
    for preparation in 0..<5 {
      var client = Client()
      if preparation > 0 { client.opens() }
      if preparation > 1 { client.ends(preparation == 4 ? .rejected(reason: "No.") : .lost(reason: "Gone.")) }
      if preparation == 3 {
        let event = client.next()
        let wait = client.next()
        #expect(event != nil && wait.map { if case .wait = $0 { true } else { false } } == true)
      }
      client.state.leave()
      expectOver(&client)
    }
  }

  private func expectOver(_ client: inout Client) {
    for _ in 0..<2 {
      let step = client.next()
      let deadline = client.state.deadline
      #expect(step == .end && deadline == nil)
      let hasReturned = client.state.connectionOpened(now: client.now)
      #expect(!hasReturned)
      client.state.attemptRequested()
      client.state.connectionReplaced()
      client.ends(.lost(reason: "Late."))
      client.now += .seconds(600)
    }
  }

  @Test("a request ends a wait after the minimum, and resets the backoff")
  func request() {
    // Requested before the loss is known, while it is reported, early in the wait and late in it.
    for moment in 0..<4 {
      var client = Client(seed: 11)
      for _ in 0..<7 { _ = client.loses() }
      if moment == 0 { client.state.attemptRequested() }
      client.ends(.lost(reason: "Gone."))
      if moment == 1 { client.state.attemptRequested() }
      let event = client.next()
      let start = client.now
      let whole = waits(8, seed: 11)[7]
      #expect(event == .deliver(.connectionLost(reason: "Gone.", retryAfter: whole)))
      let wait = client.next()
      #expect(wait == .wait(until: start + (moment < 2 ? .milliseconds(500) : whole)))
      if moment == 3 { client.now += .seconds(1) }
      client.state.attemptRequested()
      #expect(client.state.deadline == start + .milliseconds(500))
      client.now = max(client.now, start + .milliseconds(500))
      let attempt = client.next()
      #expect(attempt == .connect && whole > .seconds(1))
      let next = client.loses()
      #expect(next.map { $0 <= .seconds(1) } == true)
    }
  }

  @Test("a request while a connection is open has no effect on the wait after it")
  func requestWhileOpen() {
    var client = Client(seed: 12)
    _ = client.loses()
    client.state.attemptRequested()
    client.opens()
    client.state.attemptRequested()
    let wait = client.loses()
    #expect(wait == waits(2, seed: 12)[1])
  }
}
