import CallCheck
import CallCheckTestSupport
import Foundation
import Media
import Testing

/// Compares docs/checks.md with the program.
@Suite("The document about checks")
struct DocumentationTests {
  private static let page =
    (try? String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../../docs/checks.md"),
      encoding: .utf8)) ?? ""

  /// The catalogue as the document must have it.
  private static var table: String {
    let rows = Measurement.catalogue.map { measurement in
      let names = ([measurement.name] + measurement.aliases).map { "`\($0)`" }.joined(separator: " or ")
      return "| \(names) | \(measurement.example) | \(measurement.scope.rawValue) | \(measurement.meaning) |"
    }
    return (["| name | limits | of | what is measured |", "|---|---|---|---|"] + rows).joined(separator: "\n")
  }

  /// The default rules as the document must have them: those of a call with all expectations.
  private static var defaultRules: String {
    let rules = DefaultRules.rules(for: CheckExpectation(pattern: .returned), subject: .call)
    return (["| rule | reason |", "|---|---|"] + rules.map { "| `\($0.rule.text)` | \($0.reason) |" }).joined(
      separator: "\n")
  }

  @Test("every measurement is defined as in the catalogue")
  func catalogue() {
    let isThere = Self.page.contains(Self.table)
    #expect(isThere)
    if !isThere { print(Self.table) }
  }

  @Test("the default rules are listed with their reasons")
  func rules() {
    let isThere = Self.page.contains(Self.defaultRules)
    #expect(isThere)
    if !isThere { print(Self.defaultRules) }
  }

  @Test("every field of the report is explained")
  func fields() throws {
    var call = SyntheticCall()
    call.duration = 4
    call.leaves = 3.5
    call.lostAudio = [100]
    call.black = 2..<2.5
    var report = try call.report()
    report.start = "2026-11-21T17:00:00.123Z"
    report.impairment = [.init(start: 0, end: 2, direction: "send", text: "loss=5%")]
    report.failure = "The check was interrupted."
    report.fault = .init(name: "ssrc-change", injectionCount: 1)
    report.peers[0].skippedFrames = .init(videoFrames: 3, first: 1, last: 1.1)
    report.roomReport.peersNotJudged = 1
    report.roomReport.listeners = 1
    report.roomReport.peersIgnored = 1
    report.peers[0].onlyReceives = true
    report.peers[0].name = "Ann"
    report.roomReport.signallingLost = [.init(start: 1, duration: 0.5, restored: true, reason: "Gone.")]
    report.peers[0].timeLeftAfterLateJoin = 1
    report.peers[0].undecoded = ["audio"]
    report.peers[0].undecodedReason = "corrupt"
    report.peers[0].streams = SampleReport.screen.peers[0].streams
    report.peers[0].streamsNotJudged = 1
    report.results[0].stream = 2
    report.peers[0].rejected = [RejectionReport(RejectedSection(index: 1, kind: "video", reason: .tooManySections))]
    report.peers[0].codecs?.video?[0].profile = "avc1.42e01f"
    report.comparison = report.compared(with: report)
    let keys = Set(try report.json.split(separator: "\n").compactMap(Self.key))
    // Keys such as the kinds of candidates are not fields.
    let unexplained = keys.subtracting(["host"]).filter { !Self.page.contains("`\($0)`") }.sorted()
    #expect(unexplained == [])
    #expect(keys.count > 100)
  }

  private static func key(_ line: Substring) -> String? {
    let words = line.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3, words[2].drop(while: { $0 == " " }).hasPrefix(":") else { return nil }
    return String(words[1])
  }

  @Test("every reason and enumerated word of the report is explained")
  func words() {
    let words =
      FreezeReason.allCases.map(\.rawValue) + AudioGapReason.allCases.map(\.rawValue)
      + CallProgress.allCases.map(\.rawValue)
      + CandidateKind.allCases.map(\.rawValue) + PeerReport.Departure.Cause.allCases.map(\.rawValue)
      + RejectedSection.Reason.allCases.map(\.rawValue) + RuleResult.Outcome.allCases.map(\.rawValue)
      + CheckExpectation.Pattern.allCases.map(\.rawValue)
    let unexplained = Set(words).filter { !Self.page.contains("`\($0)`") }.sorted()
    #expect(unexplained == [])
  }
}
