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
