import CallCheck
import Testing

@testable import CallReport

@Suite("Charts of the HTML report")
struct ReportChartTests {
  @Test("a line breaks where nothing was measured, but not between sparse values")
  func pieces() {
    let broken = LaneSeries(step: 0.2, values: [1, 2, nil, nil, nil, nil, 3, 4])
    #expect(broken.pieces.map { $0.map(\.value) } == [[1, 2], [3, 4]])
    let seldom = LaneSeries(step: 0.2, values: [1, nil, nil, nil, nil, 2, nil, nil, nil, nil, 3])
    #expect(seldom.pieces.map { $0.map(\.value) } == [[1, 2, 3]])
    #expect(LaneSeries(step: 0.2, values: [nil, .nan, .infinity, nil]).pieces.isEmpty)
  }

  @Test("a long series keeps the extreme values of each bucket, at their own times", arguments: [601, 3000, 54_000])
  func extremes(count: Int) {
    var values = [Double?](repeating: 20, count: count)
    values[count / 3] = -5
    values[count / 2] = 900
    let points = LaneSeries(step: 0.5, values: values).pieces.joined()
    let low = points.first { $0.value == -5 }
    let high = points.first { $0.value == 900 }
    #expect(points.count <= LaneSeries.pointLimit)
    #expect(low?.time == (Double(count / 3) + 0.5) * 0.5)
    #expect(high?.time == (Double(count / 2) + 0.5) * 0.5)
    let isInOrder = zip(points, points.dropFirst()).allSatisfy { $0.time < $1.time }
    #expect(isInOrder)
  }

  @Test("a sparse value can be read until the next one")
  func sampleAndHold() {
    let seldom = LaneSeries(step: 0.2, values: [nil, 1, nil, nil, 2, nil, nil, 3, nil])
    #expect(seldom.sampleAndHold.values == [nil, 1, 1, 1, 2, 2, 2, 3, nil])
    let broken = LaneSeries(step: 0.2, values: [1, 2, nil, nil, nil, nil, 3, 4])
    #expect(broken.sampleAndHold.values == [1, 2, nil, nil, nil, nil, 3, 4])
  }

  @Test("intervals beyond a limit continue over steps without values")
  func intervals() {
    let series = LaneSeries(step: 0.5, values: [0, 9, nil, 9, 0, nil, 9])
    let found = series.intervals { $0 > 5 }.map { [$0.start, $0.duration] }
    #expect(found == [[0.5, 1.5], [3, 0.5]])
  }

  @Test(
    "the time axis has at most nine round ticks, all within its range",
    arguments: [0.3, 1, 5, 20, 61, 600, 3600, 10_800, 864_000])
  func ticks(duration: Double) {
    let axis = TimeAxis(duration: duration)
    #expect((2...9).contains(axis.ticks.count))
    #expect(axis.ticks.allSatisfy { $0 >= 0 && $0 <= duration })
    #expect(axis.ticks.first == 0)
  }

  @Test("an axis of no length has a length of one second")
  func noLength() {
    for duration in [0, -1, .nan, .infinity] { #expect(TimeAxis(duration: duration).duration == 1) }
    #expect(TimeAxis(duration: 10).fraction(.nan) == 0)
    #expect(TimeAxis(duration: 10).fraction(50) == 1)
  }

  @Test("the upper edge of a lane is a round number that is not below its values")
  func ceilings() {
    for value in stride(from: 0.001, to: 3e6, by: 1234.567) {
      let edge = LaneUnit.bitrate(upTo: value).ceiling(value)
      let fits = edge >= value * 0.999 && edge <= max(2 * value, 1000)
      #expect(fits, "\(value) \(edge)")
    }
    #expect(LaneUnit.fps.ceiling(26) == 30)
    #expect(LaneUnit.fps.ceiling(0) == 1)
    #expect(LaneUnit.fps.ceiling(.infinity) == 1)
  }

  @Test("a rule's limit is drawn in the lane of its measurement unless it is far from the values")
  func limits() {
    func result(_ measurement: String, _ limit: Double) -> RuleResult {
      RuleResult(
        rule: "", measurement: measurement, peer: nil, outcome: .held, value: 0, limit: .number(limit), unit: "",
        figure: nil,
        sentence: "")
    }
    let series = LaneSeries(step: 1, values: [20, 25])
    let lane = TimelineLane(
      "", unit: .fps, measurements: ["video.fps"], [series],
      results: [result("video.fps", 24), result("video.fps.min", 10), result("loss", 3), result("video.fps", 24)])
    #expect(lane.limits == [24, 10])
    #expect(lane.high == 30)
    let far = TimelineLane("", unit: .fps, measurements: ["video.fps"], [series], results: [result("video.fps", 9000)])
    #expect(far.high == 30)
  }

  @Test("numbers have the same format everywhere")
  func figures() {
    #expect(NumberFormatting.seconds(0.08) == "80 ms")
    #expect(NumberFormatting.seconds(2.03) == "2.03 s")
    #expect(NumberFormatting.seconds(187) == "3:07 min")
    #expect(NumberFormatting.seconds(7500) == "2:05:00 h")
    #expect(NumberFormatting.seconds(-0.3) == "-300 ms")
    #expect(NumberFormatting.time(8.12) == "8.1 s")
    #expect(NumberFormatting.bitrate(812) == "812 bit/s")
    #expect(NumberFormatting.bitrate(32_100) == "32.1 kbit/s")
    #expect(NumberFormatting.bitrate(1_140_000) == "1.14 Mbit/s")
    #expect(NumberFormatting.share(0.021) == "2.1 %")
    #expect(NumberFormatting.share(0.34) == "34 %")
    #expect(NumberFormatting.bytes(1_598_204) == "1.6 MB")
    #expect(NumberFormatting.count(1_234_567) == "1\u{202F}234\u{202F}567")
    #expect(NumberFormatting.fixed(-0.004, 2) == "0.00")
    #expect(NumberFormatting.fixed(1.005, 1) == "1.0")
    #expect(NumberFormatting.fixed(.nan, 1) == "-")
    #expect(NumberFormatting.short(100, 0) == "100")
    #expect(NumberFormatting.short(2.50, 3) == "2.5")
  }
}
