import Load
import Testing

@Suite("the ramp of a load")
struct RampRateTests {
  @Test(
    "a rate is a whole number per second or per minute",
    arguments: [
      ("10/s", 600), ("10", 600), ("1/m", 1), ("90/m", 90), ("90/min", 90), ("1000/s", 60_000), ("007/s", 420),
    ])
  func reads(_ text: String, _ perMinute: Int) throws {
    #expect(try RampRate(text).perMinute == perMinute)
  }

  @Test("a printed rate can be parsed again", arguments: ["10/s", "90/m", "1/m", "1/s", "1000/s"])
  func prints(_ text: String) throws {
    #expect(try RampRate(text).description == text)
  }

  @Test(
    "an invalid rate is rejected with an example", arguments: ["", "/s", "10/h", "10 /s", "-1/s", "1.5/s", "٣/s", "s"])
  func noRate(_ text: String) {
    #expect(throws: RampRate.ParseError.noRate(text)) { try RampRate(text) }
  }

  @Test(
    "zero, or more than 1,000 a second, is rejected without overflow",
    arguments: ["0", "0/s", "1001/s", "60001/m", "99999999999999999999"])
  func outOfRange(_ text: String) {
    #expect(throws: RampRate.ParseError.outOfRange) { try RampRate(text) }
  }

  @Test("at ten a second the first joins at once and the hundredth after 9.9 s")
  func moments() {
    let rate = RampRate(perSecond: 10)
    #expect(rate.moment(of: 0) == .zero)
    #expect(rate.moment(of: 1) == .milliseconds(100))
    #expect(rate.moment(of: 99) == .milliseconds(9900))
  }

  @Test("a rate that does not divide the minute does not drift")
  func exact() throws {
    #expect(try RampRate("7/m").moment(of: 700) == .seconds(6000))
  }
}
