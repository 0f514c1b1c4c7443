import CallCheck
import CallCheckTestSupport
import CallReport
import Testing

@Suite("The rules of a check")
struct RuleListTests {
  private func list(_ texts: String...) throws -> RuleList {
    var list = RuleList()
    for text in texts { try list.add(text) }
    return list
  }

  private func report(_ list: RuleList) throws -> CheckReport {
    var call = SyntheticCall()
    call.duration = 2
    return try call.report { $0.rules = list }
  }

  private var defaults: [String] {
    DefaultRules.rules(for: SyntheticCall().options.expected, subject: .call).map(\.rule.text)
  }

  @Test("given rules replace the default rules")
  func alone() throws {
    let report = try report(list("video.fps >= 10"))
    #expect(report.rules.map(\.rule) == ["video.fps >= 10"])
    #expect(!report.rulesAreDefault)
    #expect(!report.table().contains("default rule"))
  }

  @Test("with “default”, the default rules apply as well, except those about the same measurement")
  func besides() throws {
    let report = try report(list("video.fps >= 10", " default ", "video.freeze <= 300ms", "rtt.p95 <= 1s"))
    let given = ["video.fps >= 10", "video.freeze <= 300ms", "rtt.p95 <= 1s"]
    let kept = defaults.filter { !$0.hasPrefix("video.fps ") && !$0.hasPrefix("video.freeze.longest ") }
    #expect(kept.count == defaults.count - 2)
    #expect(report.rules.map(\.rule) == given + kept)
    #expect(report.rules.map { $0.reason != nil } == given.map { _ in false } + kept.map { _ in true })
    #expect(!report.rulesAreDefault)
    let sentence = "\(kept.count) of these \(kept.count + 3) rules are default rules"
    #expect(report.table(width: 200).contains(sentence + "."))
    let page = HTMLReport(report).text
    let isReported = page.contains(sentence + ". Their reasons:")
    #expect(isReported)
  }

  @Test("“default” alone gives the same rules as no rules")
  func defaultAlone() throws {
    let report = try report(list("default"))
    #expect(report.rules.map(\.rule) == defaults)
    #expect(report.rulesAreDefault)
    #expect(report.table().contains("All of these rules are default rules."))
  }

  @Test("a file of rules may contain “default”, but no other keyword")
  func file() throws {
    let both = try RulesFile.rules(of: "expect:\n  - default  # ours\n  - loss <= 2%\n")
    #expect(both.includesDefaults && both.given.map(\.text) == ["loss <= 2%"])
    let one = try RulesFile.rules(of: "- default\n")
    #expect(one.includesDefaults && one.given.isEmpty)
    #expect(throws: RulesFile.ParseError.self) { try RulesFile.rules(of: "- defaults\n") }
  }
}
