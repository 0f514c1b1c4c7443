import Testing

@testable import BotPeer

@Suite("Round trip time")
struct RoundTripTimeTests {
  @Test("it is guessed first, then follows what is measured, smoothly")
  func follows() throws {
    var time = RoundTripTime()
    #expect(time.smoothed == nil)
    #expect(time.estimate == .milliseconds(100))
    time.measured(.milliseconds(40))
    #expect(time.smoothed == .milliseconds(40))
    time.measured(.milliseconds(120))
    #expect(time.smoothed == .milliseconds(50))
    #expect(time.latest == .milliseconds(120))
    for _ in 0..<100 { time.measured(.milliseconds(60)) }
    #expect(abs((try #require(time.smoothed)) / .milliseconds(1) - 60) < 1)
    #expect(time.retryInterval > .milliseconds(68) && time.retryInterval < .milliseconds(75))
  }

  @Test("errors of measuring are ignored, and the retry interval has bounds")
  func bounds() {
    var time = RoundTripTime()
    time.measured(.milliseconds(-1))
    time.measured(.seconds(31))
    #expect(time.smoothed == nil)
    for _ in 0..<100 { time.measured(.microseconds(100)) }
    #expect(time.retryInterval == .milliseconds(30))
    for _ in 0..<100 { time.measured(.seconds(20)) }
    #expect(time.retryInterval == .milliseconds(1_500))
  }
}

@Suite("Keyframe requester")
struct KeyframeRequesterTests {
  @Test("it asks at once, then every 500 ms while one is wanted, and never more often")
  func interval() {
    var requester = KeyframeRequester()
    let start = ContinuousClock.now
    var times: [Int] = []
    for millisecond in 0..<2_000 where requester.poll(wanted: millisecond < 1_200 || millisecond > 1_300, now: start + .milliseconds(millisecond)) {
      times.append(millisecond)
    }
    #expect(times == [0, 500, 1_000, 1_500])
    #expect(requester.requests == 4)
  }

  @Test("its deadline is when the next request may be sent, and there is none when nothing is wanted")
  func deadline() {
    var requester = KeyframeRequester()
    let start = ContinuousClock.now
    #expect(requester.deadline(wanted: false, now: start) == nil)
    #expect(requester.deadline(wanted: true, now: start) == start)
    _ = requester.poll(wanted: true, now: start)
    #expect(requester.deadline(wanted: true, now: start) == start + .milliseconds(500))
  }
}

@Suite("Bitrate estimate")
struct BitrateEstimateTests {
  @Test("it starts at its ceiling, falls to what arrives when much is lost, and climbs again")
  func course() throws {
    var estimate = BitrateEstimate()
    let start = ContinuousClock.now
    #expect(estimate.poll(received: 0, fractionLost: 0, now: start) == nil)
    estimate.start(now: start)
    #expect(estimate.poll(received: 1e6, fractionLost: 0, now: start) == 5_000_000)
    #expect(estimate.poll(received: 1e6, fractionLost: 0, now: start + .milliseconds(999)) == nil)
    #expect(estimate.poll(received: 1e6, fractionLost: 0.2, now: start + .seconds(1)) == 900_000)
    #expect(estimate.poll(received: 1e6, fractionLost: 0.05, now: start + .seconds(2)) == 900_000)
    #expect(estimate.poll(received: 1e6, fractionLost: 0.01, now: start + .seconds(3)) == 1_175_000)
    for second in 4..<20 { _ = estimate.poll(received: 1e6, fractionLost: 0, now: start + .seconds(second)) }
    #expect(estimate.limit == BitrateEstimate.ceiling)
    #expect(estimate.poll(received: 1_000, fractionLost: 0.9, now: start + .seconds(30)) == 150_000)
  }
}

@Suite("Rate meter")
struct RateMeterTests {
  @Test("it shows the last second's rate, and nothing after a pause")
  func rate() {
    var meter = RateMeter()
    let start = ContinuousClock.now
    for millisecond in stride(from: 0, to: 5_000, by: 10) { meter.add(bytes: 1_250, now: start + .milliseconds(millisecond)) }
    #expect(abs(meter.bitrate(now: start + .seconds(5)) - 1_000_000) < 30_000)
    #expect(meter.bitrate(now: start + .milliseconds(5_500)) < 700_000)
    #expect(meter.bitrate(now: start + .seconds(7)) == 0)
  }
}
