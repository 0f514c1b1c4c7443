import OptionValues
import Testing

@Suite("a duration on the command line")
struct TimeSpanTests {
  @Test(
    "a duration has numbers with units, or one number of seconds",
    arguments: [
      ("90", 90_000), ("90s", 90_000), ("10m", 600_000), ("1h", 3_600_000), ("250ms", 250), ("0", 0), ("007s", 7000),
      ("1000000h", 3_600_000_000_000), ("1.5s", 1500), ("1.5h", 5_400_000), ("5min", 300_000), ("5 s", 5000),
      ("5m30s", 330_000), ("1h30m", 5_400_000), ("1h2m3s4ms", 3_723_004),
    ] as [(String, Int64)])
  func reads(_ text: String, _ milliseconds: Int64) throws {
    #expect(try TimeSpan(text).milliseconds == milliseconds)
    #expect(try TimeSpan(text).duration == .milliseconds(milliseconds))
  }

  @Test(
    "it is printed in the largest unit that fits, and can be parsed again",
    arguments: [
      (90_000, "90s"), (600_000, "10m"), (3_600_000, "1h"), (250, "250ms"), (0, "0s"), (1500, "1500ms"),
      (7_200_000, "2h"),
      (5_400_000, "90m"),
    ] as [(Int64, String)])
  func prints(_ milliseconds: Int64, _ text: String) throws {
    #expect(TimeSpan(milliseconds: milliseconds).description == text)
    #expect(try TimeSpan(text).milliseconds == milliseconds)
  }

  @Test(
    "a text without a number is rejected with an example",
    arguments: ["", "s", "-s", "+5", " 5", "½h", "٣", "1.", ".5s", "1.2.3s", "30s5m", "5m30", "1s1s", "1h1m1s1ms1ms"])
  func noNumber(_ text: String) {
    #expect(throws: TimeSpan.ParseError.noNumber(text)) { try TimeSpan(text) }
  }

  @Test("a negative duration is rejected", arguments: ["-5", "-5s", "-1h"])
  func belowZero(_ text: String) {
    #expect(throws: TimeSpan.ParseError.belowZero(text)) { try TimeSpan(text) }
  }

  @Test(
    "an unknown unit is named",
    arguments: [("5x", "x"), ("5S", "S"), ("1h5x", "x"), ("5 minutes", "minutes")])
  func unknownUnit(_ text: String, _ name: String) {
    #expect(throws: TimeSpan.ParseError.unknownUnit(name)) { try TimeSpan(text) }
  }

  @Test(
    "a duration of more than a million hours is rejected without overflow",
    arguments: ["1000001h", "99999999999999999999", "9223372036854775807h", "9223372036854775807ms"])
  func tooLong(_ text: String) {
    #expect(throws: TimeSpan.ParseError.tooLong(text)) { try TimeSpan(text) }
  }
}
