import Testing

@testable import BotPeer

@Suite("How often a participant may make us do something")
struct RateAllowanceTests {
  @Test("so many at once, then one in each interval, and all of them again after a pause")
  func burstAndPace() {
    let start = ContinuousClock.now
    var allowance = RateAllowance(burst: 3, interval: .seconds(1))
    #expect(allowance.isUntouched(now: start))
    #expect((0..<5).map { _ in allowance.take(now: start) } == [true, true, true, false, false])
    #expect(allowance.next(now: start) == start + .seconds(1))
    #expect(
      [900, 1_000, 1_500, 2_000].map { allowance.take(now: start + .milliseconds($0)) } == [false, true, false, true])
    #expect(!allowance.isUntouched(now: start + .seconds(4)))
    let later = start + .seconds(20)
    #expect(allowance.isUntouched(now: later))
    #expect((0..<4).map { _ in allowance.take(now: later) } == [true, true, true, false])
  }

  @Test("of offers that come too fast the newest is answered, when its time has come")
  func gate() {
    let start = ContinuousClock.now
    var gate = OfferGate()
    let passed = (0..<100).compactMap { gate.pass("\($0)", now: start) }
    #expect(passed == (0..<10).map { "\($0)" })
    #expect(gate.deadline == start + .milliseconds(500))
    #expect(gate.open(now: start + .milliseconds(499)) == nil)
    #expect(gate.open(now: start + .milliseconds(500)) == "99")
    #expect(gate.deadline == nil)
    #expect(!gate.isIdle(now: start + .seconds(1)))
    #expect(gate.isIdle(now: start + .seconds(6)))
  }
}
