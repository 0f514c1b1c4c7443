import Media
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Parts of the bandwidth estimator")
struct EstimatorTests {
  private let start = MonotonicInstant.now

  /// Returns the estimator's state after each packet. Packets of 1,200 bytes are sent every 10 ms; `arrival` returns the
  /// arrival time of a packet in milliseconds.
  private func usages(_ count: Int, arrival: (Int) -> Double) -> [TrendlineEstimator.Usage] {
    var groups = InterArrivalGroups()
    var trend = TrendlineEstimator()
    var usages: [TrendlineEstimator.Usage] = []
    for number in 0..<count {
      let packet = SentPacketLog.Arrival(
        sent: start + .milliseconds(number * 10), arrived: Int64(arrival(number) * 1_000), size: 1_200)
      if let change = groups.add(packet) { trend.add(change) }
      usages.append(trend.usage)
    }
    return usages
  }

  @Test("a constant delay is normal use, a rising delay is overuse within 300 ms, a falling delay is underuse")
  func trend() {
    #expect(usages(200) { Double($0) * 10 + 30 }.allSatisfy { $0 == .normal })
    let longer = usages(200) { Double($0) * 10 + 30 + max(0, Double($0 - 100)) * 5 }
    #expect(longer.prefix(101).allSatisfy { $0 == .normal })
    #expect(longer[101..<130].contains(.over))
    let shorter = usages(300) { Double($0) * 10 + 1_030 - max(0, Double($0 - 100)) * 3 }
    #expect(shorter.contains(.under))
    #expect(!shorter.contains(.over))
  }

  @Test("jitter of 20 ms without a trend is rarely treated as overuse")
  func jitter() {
    var generator = SeededGenerator(seed: 5)
    let found = usages(3_000) { Double($0) * 10 + 30 + Double.random(in: 0...9, using: &generator) }
    #expect(found.count { $0 == .over } < 60)
  }

  @Test("the acknowledged bitrate is within 10 % of the true one after a second and follows a change")
  func acknowledged() throws {
    var rate = AcknowledgedBitrateEstimator()
    var time: Int64 = 0
    func feed(_ milliseconds: Int, every: Int64) {
      for _ in 0..<(Int64(milliseconds) * 1_000 / every) {
        time += every
        rate.add(.init(sent: start, arrived: time, size: 1_250))
      }
    }
    feed(1_000, every: 10_000)
    #expect(abs(try #require(rate.bitrate) - 1_000_000) < 100_000)
    feed(3_000, every: 20_000)
    #expect(abs(try #require(rate.bitrate) - 500_000) < 50_000)
  }

  @Test("loss above 10 % lowers the rate, 5 % leaves it unchanged, no loss raises it")
  func loss() {
    func after(_ lost: Int, isUncongested: Bool = false) -> Double {
      var bound = LossBasedEstimator(rate: 1_000_000)
      for step in 0..<10 {
        bound.received(
          expected: 100, lost: lost, isUncongested: isUncongested, sent: 1_000_000, roundTrip: .milliseconds(50),
          limits: 50_000...5_000_000, now: start + .milliseconds(step * 600))
      }
      return bound.rate
    }
    #expect(after(30) < 600_000)
    #expect(after(5) == 1_000_000)
    #expect(after(0) > 1_200_000)
    #expect(after(5, isUncongested: true) > 1_200_000)
    #expect(after(100) >= 50_000)
  }

  @Test("overuse lowers the rate to 85 % of the acknowledged bitrate, and normal use raises it to 150 % at most")
  func rateControl() {
    var control = AimdRateControl(rate: 2_000_000)
    let limits = 50_000.0...5_000_000
    control.update(
      .over, acknowledged: 1_000_000, sent: 2_000_000, roundTrip: .milliseconds(50), limits: limits, now: start)
    #expect(control.rate == 850_000)
    for step in 1...3_000 {
      control.update(
        .normal, acknowledged: 900_000, sent: 900_000, roundTrip: .milliseconds(50), limits: limits,
        now: start + .milliseconds(step * 100))
    }
    #expect(control.rate <= 900_000 * 1.5 + 10_000)
    #expect(control.rate > 1_300_000)
  }
}
