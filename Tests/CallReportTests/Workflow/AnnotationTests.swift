import CallCheck
import CallCheckTestSupport
import CallReport
import Testing

@Suite("Annotations for GitHub Actions")
struct AnnotationTests {
  @Test("a held check has none, a failed one an error for each failed rule")
  func failed() {
    #expect(SampleReport.held.annotations == [])
    let lines = SampleReport.failed.annotations
    #expect(lines.count == 2)
    #expect(
      lines.first?.hasPrefix(
        "::error title=video.freeze.longest <= 500ms%2C peer 2::peer 2 (b9a7c2d4-15e6-4c0b-8f3a-77d2e9c01f55): "
          + "Longest freeze: 2.03 s at 8.12 s, because packets were lost") == true)
  }

  @Test("a call that was never established is an error of its own")
  func never() {
    let lines = SampleReport.neverEstablished.annotations
    #expect(lines.count == 6)
    #expect(lines.first?.hasPrefix("::error title=Check of room 100::Answer received, no ICE check answered") == true)
  }

  @Test("a room that was not joined is one error, because the rules only repeat that")
  func notJoined() {
    var report = SampleReport.neverEstablished
    report.peers = []
    report.diagnosis = "The room was not joined: nothing listens there."
    report.failure = "Nothing listens there."
    #expect(
      report.annotations == [
        "::error title=Check of room 100::The room was not joined: nothing listens there."
      ])
  }

  @Test("an inconclusive check is a warning")
  func inconclusive() {
    var report = SampleReport.held
    report.verdict = .inconclusive
    #expect(report.annotations == ["::warning title=Check of room 100::All 9 rules held."])
  }

  @Test("there are at most 10, and the last one gives the number of others")
  func bounded() {
    var report = SampleReport.failed
    for index in report.results.indices {
      report.results[index].outcome = .failed
      report.results[index].sentence = "100 %\r\n::error::x"
    }
    let lines = report.annotations
    #expect(lines.count == 10)
    #expect(
      lines.last == "::error title=Check of room 100::\(report.results.count - 9) further failures: see the report.")
    #expect(lines.first?.hasSuffix(": 100 %25\u{FFFD}\u{FFFD}::error::x") == true)
  }

  @Test("hostile names stay in their line and in their property")
  func hostile() {
    var report = SampleReport.hostile
    report.room = "a:b,c%d::e"
    let lines = report.annotations
    #expect(lines.first?.hasPrefix("::error title=Check of room a%3Ab%2Cc%25d%3A%3Ae::") == true)
    for line in lines {
      #expect(line.hasPrefix("::error title="))
      let odd = line.unicodeScalars.contains { $0.value < 0x20 || (0x202A...0x202E).contains($0.value) }
      #expect(!odd)
      // The first two colons after the command's name end its properties.
      let properties = line.dropFirst("::error ".count).firstRange(of: "::").map { line[..<$0.lowerBound] }
      #expect(properties?.dropFirst("::error title=".count).contains(":") == false)
    }
  }
}
