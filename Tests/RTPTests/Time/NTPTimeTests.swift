import RTP
import TestSupport
import Testing

@Suite("NTP time")
struct NTPTimeTests {
  @Test("1970 began 2,208,988,800 s after 1900")
  func epoch() {
    #expect(NTPTime(secondsSince1970: 0).value == 2_208_988_800 << 32)
    #expect(NTPTime(secondsSince1970: 0, nanoseconds: 0).seconds == 2_208_988_800)
    #expect(NTPTime(secondsSince1970: 0.5).fraction == 0x8000_0000)
    #expect(NTPTime(secondsSince1970: 0, nanoseconds: 250_000_000).fraction == 0x4000_0000)
    #expect(NTPTime(value: 2_208_988_800 << 32).secondsSince1970 == 0)
  }

  @Test("a sender report of Chromium has the date 21 November 2026")
  func chromium() throws {
    let time = NTPTime(seconds: 4_004_245_265, fraction: 1_822_208_594)
    #expect(abs(time.secondsSince1970 - 1_795_256_465.424266) < 1e-6)
    #expect(time.description == "4004245265.424265999")
  }

  @Test("the middle 32 bits are those of the example in RFC 3550, 6.4.1")
  func middle() {
    // Figure 2: 10 Nov 1995 11:33:25.125 UTC, NTP 0xb44db705:20000000, LSR 0xb705:2000.
    let sent = NTPTime(seconds: 0xB44D_B705, fraction: 0x2000_0000)
    #expect(sent.middle == 0xB705_2000)
    // The answer arrived at 0xb710:8000 with a delay of 0x0005:4000 (5.250 s): a round trip of 6.125 s.
    let answered = NTPTime(seconds: 0xB44D_B710, fraction: 0x8000_0000)
    #expect(answered.roundTripTime(lastReport: sent.middle, delay: 0x0005_4000) == .milliseconds(6_125))
  }

  @Test("a report block yields the round-trip time, or nil when no report was answered")
  func roundTrip() {
    let now = NTPTime(seconds: 100, fraction: 0)
    var block = ReportBlock(
      ssrc: 1, extendedHighestSequenceNumber: 0, lastSenderReport: 99 << 16, delaySinceLastSenderReport: 1 << 15)
    #expect(block.roundTripTime(now: now) == .milliseconds(500))
    block.lastSenderReport = 0
    #expect(block.roundTripTime(now: now) == nil)
    // A delay slightly longer than the round trip is rounding; a much longer one is invalid.
    #expect(now.roundTripTime(lastReport: 99 << 16, delay: 1 << 16 + 3) == .some(.zero))
    #expect(now.roundTripTime(lastReport: 99 << 16, delay: 10 << 16) == nil)
    // The middle bits wrap every 18 hours.
    #expect(NTPTime(seconds: 1 << 16, fraction: 0).roundTripTime(lastReport: 0xFFFF_0000, delay: 0) == .seconds(1))
  }

  @Test("differences are exact across the wrap of 2036")
  func eraWrap() {
    let before = NTPTime(seconds: .max, fraction: 0)
    let after = before + .milliseconds(1_500)
    #expect(after == NTPTime(seconds: 0, fraction: 0x8000_0000))
    #expect(after - before == .milliseconds(1_500))
    #expect(before - after == .milliseconds(-1_500))
    #expect(after - .milliseconds(1_500) == before)
    #expect(abs(after.secondsSince1970 - before.secondsSince1970 - 1.5) < 1e-6)
    #expect(NTPTime(secondsSince1970: before.secondsSince1970 + 1).seconds == 0)
  }

  @Test("adding and subtracting keep nanoseconds", arguments: [0, 1, 999, 1_000_000, 999_999_999, 3_600_000_000_001])
  func arithmetic(nanoseconds: Int64) {
    let start = NTPTime(seconds: 4_000_000_000, fraction: 123)
    for sign in [Int64(1), -1] {
      let moved = start + .nanoseconds(sign * nanoseconds)
      let error = (moved - start) - .nanoseconds(sign * nanoseconds)
      #expect(error >= .nanoseconds(-2) && error <= .nanoseconds(2))
    }
  }

  @Test("a delay in 2⁻¹⁶ s is clamped to 32 bits")
  func compact() {
    #expect(NTPTime.compact(.milliseconds(5_250)) == 0x0005_4000)
    #expect(NTPTime.compact(.seconds(-1)) == 0)
    #expect(NTPTime.compact(.milliseconds(-1)) == 0)
    #expect(NTPTime.compact(.seconds(65_536)) == .max)
    #expect(NTPTime.compact(.seconds(Int64.max)) == .max)
    #expect(NTPTime.duration(compact: 0x0005_4000) == .milliseconds(5_250))
    #expect(NTPTime.duration(compact: .max) < .seconds(65_536))
  }

  @Test("the absolute send time has 6 bits of seconds and 18 of fraction")
  func absoluteSendTime() {
    #expect(NTPTime(seconds: 1, fraction: 0).absoluteSendTime == 1 << 18)
    #expect(NTPTime(seconds: 64, fraction: 0).absoluteSendTime == 0)
    #expect(NTPTime(seconds: 63, fraction: .max).absoluteSendTime == 0xFF_FFFF)
  }

  @Test(
    "no value causes a trap",
    arguments: [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -1e300, -2_208_988_800, -1e-300, 1e19])
  func absurd(seconds: Double) {
    let time = NTPTime(secondsSince1970: seconds)
    #expect(time.secondsSince1970.isFinite)
    #expect((time + .seconds(Int64.max) - time) <= .seconds(Int64.max))
    _ = NTPTime(secondsSince1970: .max, nanoseconds: .min)
  }
}
