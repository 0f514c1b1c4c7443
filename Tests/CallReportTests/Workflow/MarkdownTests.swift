import CallCheck
import CallCheckTestSupport
import CallReport
import Testing

@Suite("The Markdown summary")
struct MarkdownTests {
  /// The rows of all tables: the cells without spaces at both ends.
  private func rows(_ text: String) -> [[String]] {
    text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
      var cells = [""]
      var isEscaped = false
      for character in line.dropFirst().dropLast() {
        if character == "|", !isEscaped { cells.append("") } else { cells[cells.count - 1].append(character) }
        isEscaped = character == "\\" && !isEscaped
      }
      return cells.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
    }
  }

  @Test("has the verdict in its heading, and a table for each peer")
  func whole() {
    let text = SampleReport.failed.markdown()
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.first == "## \u{2717} Check of room 100: failed")
    #expect(lines.dropFirst().first == "**Result:** 2 of 17 rules failed, both for 1 of 2 peers.")
    let headings = lines.filter { $0.hasPrefix("### ") }
    // The peer with failures is first.
    #expect(
      headings == [
        "### peer 2: b9a7c2d4-15e6-4c0b-8f3a-77d2e9c01f55", "### room",
        "### peer 1: 4d0f1c9e-7a41-4a5e-9d53-1d0c6f1b7a10",
      ])
    #expect(text.hasSuffix("|\n\n") && rows(text).allSatisfy { $0.count == 5 })
    #expect(rows(text).count == SampleReport.failed.results.count + headings.count)
  }

  @Test("has failed rules first, with value, limit and reason")
  func failures() {
    let first = rows(SampleReport.failed.markdown()).dropFirst().prefix(3)
    #expect(first.map { $0[0] } == ["\u{2717} failed", "\u{2717} failed", "\u{2713} held"])
    #expect(
      first.map { $0[1] } == [
        "video.freeze.longest &lt;= 500ms", "av.skew.p95 &lt;= 80ms", "video.firstFrame &lt;= 2s",
      ])
    #expect(first.map { $0[2] } == ["2.03 s", "302 ms", "1.02 s"])
    #expect(first.map { $0[3] } == ["&lt;= 500 ms", "&lt;= 80 ms", "&lt;= 2 s"])
    #expect(first.first?[4].hasPrefix("Longest freeze: 2.03 s at 8.12 s, because packets were lost") == true)
    #expect(first.last?[4] == "")
  }

  @Test("cuts the reasons of failures beyond the first ones")
  func complete() {
    var report = SampleReport.failed
    let long = String(repeating: "word ", count: 100)
    for index in report.results.indices where !report.results[index].holds { report.results[index].sentence = long }
    let reasons = rows(report.markdown(completeFailures: 1)).map { $0[4] }.filter { $0.hasPrefix("word") }
    #expect(reasons.map(\.count) == [499, 101])
  }

  @Test("lists what changed since the baseline, and the remarks on the comparison")
  func comparison() throws {
    var report = SampleReport.failed
    report.comparison?.remarks = ["The baseline lasted 6 s, this check 12 s."]
    let lines = report.markdown().split(separator: "\n").map(String.init)
    #expect(lines.contains("- worse: peer 2: Longest freeze: 120 ms before, 2.03 s now."))
    #expect(lines.contains("- note: The baseline lasted 6 s, this check 12 s."))
  }

  @Test("shows hostile names as they are: they end no cell and begin no markup, link or line")
  func hostile() {
    let text = SampleReport.hostile.markdown()
    #expect(rows(text).count == 4 && rows(text).allSatisfy { $0.count == 5 })
    let lines = text.split(separator: "\n")
    #expect(
      lines.allSatisfy { line in
        [
          "## ", "### ", "| ", "|---", "**Result:** ", "Reason: ", "Note: ", "Impaired ", "Baseline: ", "- worse: ",
          "- better: ", "- new: ", "- fixed: ", "- note: ",
        ].contains { line.hasPrefix($0) }
      })
    let tags = text.replacing("<span>", with: "").replacing("</span>", with: "")
    #expect(!tags.contains("<") && !tags.dropFirst().contains(">"))
    #expect(!text.contains("://"))
    let odd = text.unicodeScalars.filter { scalar in
      scalar != "\n" && scalar != "\u{200D}"
        && [.control, .format, .lineSeparator, .unassigned].contains(scalar.properties.generalCategory)
    }
    #expect(odd.isEmpty)
  }

  @Test("escapes what Markdown and GitHub would interpret")
  func escaped() {
    var report = SampleReport.held
    report.peers = []
    report.results = []
    report.room = "a|b`c`*d*_e_<b>&[x](y)\\#1!~~$1$@me https://x.example www.x.example\n\r\u{202E}z"
    let heading = report.markdown().prefix { $0 != "\n" }
    #expect(
      heading == "## \u{2713} Check of room a\\|b\\`c\\`\\*d\\*\\_e\\_&lt;b&gt;&amp;"
        + "\\[x\\](y)\\\\<span>#</span>1!\\~\\~"
        + "<span>$</span>1<span>$</span><span>@</span>me https<span>:</span>//x.example www<span>.</span>x.example"
        + "\u{FFFD}\u{FFFD}\u{FFFD}z: held")
  }

  @Test("stays below the limit, keeps failures, and says how much is left out")
  func bounded() {
    var report = SampleReport.failed
    let (good, bad) = (report.peers[0], report.peers[1])
    let results = report.results
    report.peers = []
    report.results = []
    for index in 0..<2_000 {
      var peer = index == 1_999 ? bad : good
      let old = peer.id
      peer.id = "peer-\(index)"
      report.peers.append(peer)
      report.results += results.filter { $0.peer == old }.map { result in
        var result = result
        result.peer = peer.id
        return result
      }
    }
    let text = report.markdown()
    #expect(text.utf8.count <= CheckReport.maximumMarkdownBytes && text.utf8.count > 1_000_000)
    #expect(rows(text).dropFirst().first?[0] == "\u{2717} failed")
    let shown = rows(text).count { $0[0] != "" }
    #expect(text.hasSuffix("\n\(report.results.count - shown) more results do not fit into this summary.\n"))
    for limit in [-1, 0, 50, 200, 1_000, 5_000] { #expect(report.markdown(limit: limit).utf8.count <= max(0, limit)) }
    #expect(report.markdown(limit: 50) == "")
  }

  @Test("names recordings, and a call that was never established")
  func others() {
    var recording = SampleReport.held
    recording.subject = .recording
    #expect(recording.markdown().hasPrefix("## \u{2713} Inspection of recordings: held\n"))
    let never = SampleReport.neverEstablished.markdown()
    #expect(never.contains("no ICE check answered") && never.contains("| \u{2013} not measured | "))
  }
}
