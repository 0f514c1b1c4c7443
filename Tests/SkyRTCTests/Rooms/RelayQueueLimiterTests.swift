import SkyRTC
import Testing

@Suite("Relay queue limiter")
struct RelayQueueLimiterTests {
  @Test("one sender may use a quarter, all senders three quarters, and sent signals free their bytes")
  func shares() {
    var waiting = RelayQueueLimiter(maximumBytes: 1000)
    #expect(waiting.add(200, from: "a") == true)
    #expect(waiting.add(50, from: "a") == true)
    #expect(waiting.add(1, from: "a") == false)
    #expect(waiting.add(250, from: "b") == true)
    #expect(waiting.add(250, from: "c") == true)
    #expect(waiting.add(1, from: "d") == false, "the limit of all signals together")
    waiting.remove(200, from: "a")
    #expect(waiting.add(150, from: "d") == true)
    #expect(waiting.add(50, from: "a") == true)
    #expect(waiting.add(1, from: "a") == false)
  }

  @Test("a signal larger than its sender's share passes if no other signal of the sender waits")
  func large() {
    var waiting = RelayQueueLimiter(maximumBytes: 1000)
    #expect(waiting.add(700, from: "a") == true)
    #expect(waiting.add(10, from: "a") == false)
    #expect(waiting.add(700, from: "b") == false)
    waiting.remove(700, from: "a")
    #expect(waiting.add(700, from: "b") == true)
  }

  @Test("removing an unknown signal changes nothing")
  func unknown() {
    var waiting = RelayQueueLimiter(maximumBytes: 1000)
    waiting.remove(100, from: "a")
    #expect(waiting.add(100, from: "a") == true)
    waiting.remove(.max, from: "a")
    #expect(waiting.add(750, from: "b") == true)
    #expect(waiting.add(1, from: "c") == false)
  }
}
