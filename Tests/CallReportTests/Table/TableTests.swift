import CallCheck
import CallCheckTestSupport
import CallReport
import Testing

@Suite("The table on the terminal")
struct TableTests {
  @Test("starts with the verdict and has a mark, the rule and the value for each rule")
  func marks() {
    let lines = SampleReport.failed.table(width: 100).split(separator: "\n").map(String.init)
    #expect(lines.first == "\u{2717} 2 of 17 rules failed, both for 1 of 2 peers.")
    #expect(lines.contains("peer 2  b9a7c2d4-15e6-4c0b-8f3a-77d2e9c01f55"))
    #expect(lines.contains("  \u{2713} video.fps >= 20                24.9 fps"))
    #expect(lines.contains("  \u{2717} video.freeze.longest <= 500ms  2.03 s"))
    #expect(lines.contains("    Longest freeze: 2.03 s at 8.12 s, because packets were lost."))
    let (held, failed) = (lines.count { $0.hasPrefix("  \u{2713} ") }, lines.count { $0.hasPrefix("  \u{2717} ") })
    #expect(held == 15)
    #expect(failed == 2)
  }

  @Test("names a peer with the beginning of its id, and its file if it is a recording")
  func headings() {
    var report = SampleReport.failed
    report.peers[1].name = "Camera"
    #expect(report.table(width: 100).contains("\npeer 2  Camera (b9a7c2)\n"))
    report.subject = .recording
    report.peers[1].recordings = ["rec/Camera.webm", "rec/Camera.ogg"]
    #expect(report.table(width: 100).contains("\npeer 2  Camera (b9a7c2)  Camera.webm\n"))
    report.peers[1].id = "guest.webm"
    report.peers[1].name = nil
    report.peers[1].recordings = ["rec/guest.webm"]
    for index in report.results.indices where report.results[index].peer?.hasPrefix("b9") == true {
      report.results[index].peer = "guest.webm"
    }
    #expect(report.table(width: 100).contains("\npeer 2  guest.webm\n"))
  }

  @Test("is plain ASCII if the terminal is not UTF-8")
  func ascii() {
    for report in [SampleReport.failed, SampleReport.hostile, SampleReport.neverEstablished] {
      let table = report.table(width: 80, isUnicode: false)
      let isPlain = table.unicodeScalars.allSatisfy { $0 == "\n" || (0x20..<0x7F).contains($0.value) }
      #expect(isPlain)
    }
    let table = SampleReport.failed.table(isUnicode: false)
    #expect(table.contains("  FAIL av.skew.p95 <= 80ms            302 ms\n"))
    #expect(table.contains("  ok   peers == 2 "))
  }

  @Test(
    "keeps to the width, also with wide characters, and wraps no more than necessary", arguments: [40, 60, 80, 132])
  func keepsToTheWidth(width: Int) {
    var wide = SampleReport.failed
    wide.results[9].sentence = String(repeating: "\u{6F22}\u{5B57} \u{1F600}\u{1F600} word ", count: 30)
    for report in [wide, SampleReport.hostile, SampleReport.neverEstablished] {
      let lines = report.table(width: width).split(separator: "\n")
      let widest = lines.map { TerminalText.width(String($0)) }.max() ?? 0
      #expect(widest <= width)
      #expect(lines.count < 400)
    }
  }

  @Test("sends no text from the network to the terminal that moves the cursor or reverses the text")
  func isPrintable() {
    let table = SampleReport.hostile.table(width: 100)
    let bad = table.unicodeScalars.count { $0 != "\n" && !ReportText.isPrintable($0) }
    #expect(bad == 0)
  }

  @Test("uses colours only on request")
  func colours() {
    #expect(!SampleReport.failed.table().contains("\u{1B}"))
    let coloured = SampleReport.failed.table(isColoured: true)
    #expect(coloured.contains("\u{1B}[31m\u{2717}\u{1B}[0m"))
    let plain = coloured.replacing(/\u{1B}\[\d+m/, with: "")
    #expect(plain == SampleReport.failed.table())
  }

  @Test("says why there was no call, what got worse, and that the rules are default rules")
  func tellsTheRest() throws {
    let never = SampleReport.neverEstablished.table(width: 200)
    #expect(never.hasPrefix("\u{2717} Answer received, no ICE check answered; the peer offered only mDNS names"))
    #expect(never.contains("  \u{2013} video.fps >= 15"))
    let worse = SampleReport.failed.table(width: 200)
    #expect(worse.contains("  worse  peer 2: Longest freeze: 120 ms before, 2.03 s now.\n"))
    var much = SampleReport.failed
    let change = try #require(much.comparison?.worse.first)
    much.comparison?.worse = [CheckComparison.Change](repeating: change, count: 40)
    #expect(much.table().contains("and 28 more that got worse"))
    var own = SampleReport.held
    own.rulesAreDefault = true
    #expect(own.table().contains("All of these rules are default rules."))
  }
}
