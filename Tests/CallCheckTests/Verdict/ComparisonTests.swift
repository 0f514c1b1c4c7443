import CallCheck
import CallCheckTestSupport
import Testing

@Suite("Comparison with a baseline")
struct ComparisonTests {
  @Test("a call that differs only by noise has not changed")
  func same() throws {
    let before = try SyntheticCall().report()
    var call = SyntheticCall()
    call.delay = 0.06
    call.duration = 8.5
    let comparison = try call.report().compared(with: before)
    #expect(comparison.worse.map(\.sentence) == [])
    #expect(comparison.newFailures.isEmpty)
    #expect(comparison.remarks.isEmpty)
    #expect(comparison.summary == "No change exceeds the noise.")
  }

  @Test("a worse measurement is reported with both values, and with the rule that newly fails")
  func worse() throws {
    let before = try SyntheticCall().report()
    var call = SyntheticCall()
    call.paused = 4..<6
    let now = try call.report()
    let comparison = now.compared(with: before)
    let freeze = try #require(comparison.worse.first { $0.measurement == "video.freeze.longest" })
    #expect(freeze.before == 0)
    #expect(abs(freeze.now - 2) < 0.2)
    #expect(freeze.sentence == "Longest freeze: 0 ms before, 2.03 s now.")
    #expect(comparison.newFailures.map(\.rule) == ["video.freeze.longest <= 1s"])
    #expect(comparison.summary.hasPrefix("Compared with the baseline, 1 rule newly fails, "))
    let back = before.compared(with: now)
    #expect(back.resolvedFailures.map(\.rule) == ["video.freeze.longest <= 1s"])
    #expect(back.better.contains { $0.measurement == "video.freeze.longest" })
    #expect(back.worse.isEmpty, "\(back.worse.map(\.sentence))")
  }

  @Test("totals and counts of checks of different length are compared by their rates")
  func rates() throws {
    // The same share of the time is black in both.
    var (short, long) = (SyntheticCall(), SyntheticCall())
    short.duration = 8
    short.black = 3..<5
    long.duration = 15
    long.black = 4..<8
    let comparison = try long.report().compared(with: short.report())
    let all = comparison.worse + comparison.better
    #expect(!all.contains { $0.measurement == "video.black.total" }, "\(all.map(\.sentence))")
    // A call that is silent throughout is not worse because it was measured for longer.
    short.black = nil
    long.black = nil
    short.silent = 0..<100
    long.silent = 0..<100
    let silent = try long.report().compared(with: short.report())
    #expect((silent.worse + silent.better).filter { $0.measurement.hasPrefix("audio.silence") }.isEmpty)
    long.silent = nil
    long.paused = 4..<8
    let worse = try #require(
      long.report().compared(with: short.report()).worse.first { $0.measurement == "video.freeze.total" })
    #expect(worse.sentence.contains(" in 6.9") && worse.sentence.contains(" in 13.9"), "\(worse.sentence)")
  }

  @Test("a baseline with absurd counts is compared like any other")
  func absurd() throws {
    let report = SampleReport.held
    let text = try report.json
    let changed = text.replacing(/"marksExpected" : \d+/, with: #""marksExpected" : -9223372036854775808"#)
    #expect(changed != text)
    let baseline = try CheckReport(parsing: Array(changed.utf8))
    #expect(report.compared(with: baseline).worse.contains { $0.measurement == "pattern.marksMissing" })
  }

  @Test("a baseline of a different kind is mentioned in the remarks")
  func other() throws {
    let report = try SyntheticCall().report()
    var other = report
    other.peers = []
    other.duration = 100
    other.subject = .recording
    #expect(report.compared(with: other).remarks.count == 3)
  }
}
