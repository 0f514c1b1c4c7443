import Testing

@testable import SkyRTC

@Suite("Signals that wait for a slow client")
struct RelayQueueLimiterTests {
  @Test("one sender has a quarter, all have three quarters, and what was sent makes room again")
  func shares() {
    var waiting = RelayQueueLimiter(maximumBytes: 1000)
    #expect(waiting.add(200, from: "a") == true)
    #expect(waiting.add(50, from: "a") == true)
    #expect(waiting.add(1, from: "a") == false)
    #expect(waiting.add(250, from: "b") == true)
    #expect(waiting.add(250, from: "c") == true)
    #expect(waiting.add(1, from: "d") == false, "all signals together")
    waiting.remove(200, from: "a")
    #expect(waiting.add(150, from: "d") == true)
    #expect(waiting.add(50, from: "a") == true)
    #expect(waiting.add(1, from: "a") == false)
  }

  @Test("a signal that is larger than a share passes when nothing else of its sender waits")
  func large() {
    var waiting = RelayQueueLimiter(maximumBytes: 1000)
    #expect(waiting.add(700, from: "a") == true)
    #expect(waiting.add(10, from: "a") == false)
    #expect(waiting.add(700, from: "b") == false)
    waiting.remove(700, from: "a")
    #expect(waiting.add(700, from: "b") == true)
  }

  @Test("what was never added is not taken off")
  func unknown() {
    var waiting = RelayQueueLimiter(maximumBytes: 1000)
    waiting.remove(100, from: "a")
    #expect(waiting.add(100, from: "a") == true)
    waiting.remove(.max, from: "a")
    #expect(waiting.add(750, from: "b") == true)
    #expect(waiting.add(1, from: "c") == false)
  }
}
