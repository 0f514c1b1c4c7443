import Media
import Recorder
import Testing

@Suite("Stall time of a disk")
struct StallTimeTests {
  private let start = Script.beginning

  private func at(_ seconds: Double) -> MonotonicInstant { start + .seconds(seconds) }

  @Test("a moment with several failures counts once")
  func once() {
    var time = StallTime()
    time.add(from: at(1), until: at(4))
    time.add(from: at(2), until: at(6))
    time.add(from: at(3), until: at(5))
    time.add(from: at(8), until: at(9))
    #expect(time.total(since: nil, now: at(20)) == .seconds(6))
  }

  @Test("a continuing stall counts up to now, and nothing counts after the end of the call")
  func end() {
    var time = StallTime()
    time.add(from: at(1), until: at(2))
    #expect(time.total(since: at(5), now: at(7)) == .seconds(3))
    time.end = at(6)
    #expect(time.total(since: at(5), now: at(17)) == .seconds(2))
    time.add(from: at(5), until: at(9))
    time.add(from: at(10), until: at(12))
    #expect(time.total(since: nil, now: at(12)) == .seconds(2))
  }
}
