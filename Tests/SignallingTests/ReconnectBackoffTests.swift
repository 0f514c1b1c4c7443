import Signalling
import TestSupport
import Testing

@Suite("Reconnect backoff")
struct ReconnectBackoffTests {
  @Test("waits grow and stay between half a second and 30 seconds")
  func bounds() {
    var generator = SeededGenerator(seed: 1)
    var backoff = ReconnectBackoff()
    let waits = (0..<200).map { _ in backoff.next(using: &generator) }
    #expect(waits.allSatisfy { $0 >= .milliseconds(500) && $0 <= .seconds(30) })
    #expect(waits[0] <= .seconds(1))
    #expect(waits[1] <= .seconds(2))
    #expect(waits.contains { $0 > .seconds(20) })
    #expect(Set(waits).count > 190, "the waits are jittered")
    backoff.reset()
    #expect(backoff.next(using: &generator) <= .seconds(1))
  }

  @Test("a maximum below the minimum is raised to it")
  func oddBounds() {
    var generator = SeededGenerator(seed: 1)
    var backoff = ReconnectBackoff(minimum: .seconds(3), maximum: .seconds(1))
    for _ in 0..<10 { #expect(backoff.next(using: &generator) == .seconds(3)) }
  }
}
