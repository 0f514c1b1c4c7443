import Media
import PeerEngine
import Signalling
import Testing

@Suite("Rate limits on a participant's signalling")
struct SignallingRateLimiterTests {
  @Test("of offers that arrive too fast, the newest is passed on when the limit allows it")
  func gate() {
    let start = MonotonicInstant.now
    var gate = DescriptionRateLimiter()
    let passed = (0..<100).compactMap { gate.pass("\($0)", now: start) }
    #expect(passed == (0..<10).map { "\($0)" })
    #expect(gate.deadline == start + .milliseconds(500))
    #expect(gate.open(now: start + .milliseconds(499)) == nil)
    #expect(gate.open(now: start + .milliseconds(500)) == "99")
    #expect(gate.deadline == nil)
    #expect(!gate.isIdle(now: start + .seconds(1)))
    #expect(gate.isIdle(now: start + .seconds(6)))
  }

  @Test("answers have a limit of their own, and candidates that arrive too fast are dropped")
  func signalling() {
    let start = MonotonicInstant.now
    var gate = SignallingRateLimiter()
    let candidate = SignallingMessage.candidate(TrickledCandidate(candidate: "", mid: nil, mLineIndex: nil))
    for kind in [SignallingMessage.offer("x"), .answer("x")] {
      #expect((0..<50).count { _ in gate.pass(kind, now: start) != nil } == 10)
    }
    #expect((0..<1_000).count { _ in gate.pass(candidate, now: start) != nil } == 200)
    #expect(gate.deadline == start + .milliseconds(500))
    #expect(gate.open(now: start + .milliseconds(500)) == [.offer("x"), .answer("x")])
    #expect(gate.pass(candidate, now: start + .milliseconds(100)) != nil)
    #expect(!gate.isIdle(now: start + .seconds(6)))
    #expect(gate.isIdle(now: start + .seconds(20)))
  }
}
