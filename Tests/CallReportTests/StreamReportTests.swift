import CallCheck
import CallCheckTestSupport
import CallReport
import Testing

@Suite("The reports of a peer with several streams")
struct StreamReportTests {
  private let report = SampleReport.screen

  @Test("JSON has the further streams, and is read back unchanged")
  func json() throws {
    let json = try report.json
    let read = try CheckReport(parsing: Array(json.utf8))
    #expect(read.version == 2)
    #expect(try read.json == json)
    #expect(read.peers.first?.streams?.first?.video == report.peers.first?.streams?.first?.video)
    #expect(read.results.last?.stream == 2)
    #expect(!json.contains("streamNumber"))
  }

  @Test("a report of version 1 is read with its names and can be a baseline")
  func version1() throws {
    var report = SampleReport.held
    report.peers[0].skippedFrames = .init(videoFrames: 3, first: 1, last: 1.1)
    report.peers[0].timeLeftAfterLateJoin = 1.5
    let json = try report.json
    var old = json.replacing("\"version\" : 2", with: "\"version\" : 1")
    for (now, before) in [
      ("timeLeftAfterLateJoin", "cameLate"), ("skippedFrames", "leftOut"), ("framesRead", "picturesRead"),
      ("framesUnreadable", "picturesUnreadable"),
    ] {
      #expect(old.contains("\"\(now)\""))
      old = old.replacing("\"\(now)\"", with: "\"\(before)\"")
    }
    old = old.replacing(/"frames"( : 3[,\n])/) { "\"pictures\"\($0.output.1)" }
    old = old.replacing(/"frames"( : 38[,\n])/) { "\"pictures\"\($0.output.1)" }
    #expect(old.split(separator: "\"pictures\"").count == 3)
    let read = try CheckReport(parsing: Array(old.utf8))
    #expect(read.peers.first?.skippedFrames?.videoFrames == 3)
    #expect(read.peers.first?.timeLeftAfterLateJoin == 1.5)
    #expect(read.peers.first?.pattern?.quality?.videoFrames == 38)
    #expect(try read.json == json)
    #expect(SampleReport.held.compared(with: read).remarks.isEmpty == false)
    // Version 2 does not know the old names.
    let mixed = old.replacing("\"version\" : 1", with: "\"version\" : 2")
    #expect(throws: CheckReport.ReadingError.self) { try CheckReport(parsing: Array(mixed.utf8)) }
  }

  @Test("the table has a row for each track of each stream")
  func table() {
    let lines = report.table(width: 100).split(separator: "\n").map(String.init)
    let rows = lines.filter { $0.hasPrefix("  stream ") }
    #expect(rows.count == 3)
    #expect(rows.first?.hasPrefix("  stream 1, video           ") == true, "\(rows)")
    #expect(rows.last?.hasPrefix("  stream 2 (slides), video  ") == true, "\(rows)")
    #expect(rows.allSatisfy { $0.contains("bit/s") })
    #expect(lines.contains { $0.contains("2.video.freeze.longest <= 1s") })
    #expect(!SampleReport.held.table().contains("stream 1"))
  }

  @Test("JUnit has a property for each track, and says which stream a rule is about")
  func junit() {
    let junit = report.junit
    for name in ["stream 1, video", "stream 1, audio", "stream 2 (slides), video"] {
      #expect(junit.contains("<property name=\"\(name)\" value="))
    }
    #expect(junit.contains("peer 1, stream 2 (slides), 4d0f1c9e"))
    #expect(junit.contains("name=\"2.video.freeze.longest &lt;= 1s\""))
  }

  @Test("each report names the codecs of each track with their profiles, those of a single stream too")
  func codecs() {
    var single = report
    single.peers[0].streams = nil
    single.results.removeAll { $0.stream != nil }
    let both = "VP8, then H.264 (avc1.42e01f)"
    for text in [report.table(width: 120), report.junit, HTMLReport(report).text, report.markdown()] {
      #expect(text.contains(both) && text.contains("Opus") && text.contains("VP9"))
    }
    for text in [single.table(), single.junit, HTMLReport(single).text, single.markdown()] {
      #expect(text.contains(both + ", Opus"))
    }
    #expect(single.table().contains("  codecs  " + both))
    #expect(!SampleReport.held.table().contains("codecs"))
  }

  @Test("the page has lanes, frames and measurements of each stream, and says which one failed")
  func page() {
    let page = HTMLReport(report).text
    let alone = HTMLReport(SampleReport.held).text
    func count(_ text: String, in page: String) -> Int {
      page.split(separator: text, omittingEmptySubsequences: false).count - 1
    }
    for lane in ["Frame rate", "Video bitrate", "Freezes"] {
      #expect(page.contains("<span>Stream 2 (slides): \(lane)</span>"))
      #expect(page.contains("<span>\(lane)</span>"))
    }
    #expect(!page.contains("Stream 2 (slides): Sent to this peer"))
    #expect(page.contains("<h3>Stream 2 (slides)</h3>"))
    #expect(page.contains(">peer 1, stream 2 (slides)</a>"))
    #expect(page.contains("All measurements of stream 2"))
    #expect(count("<figure>", in: page) > count("<figure>", in: alone))
    #expect(page.contains("In stream 2 (slides), there was no "))
    // When the rule failed: the freeze of the second stream.
    #expect(page.contains("12.2 s \u{2013} 15.3 s"))
  }

  @Test("the name of a peer is before its id, and read back")
  func peerName() throws {
    var named = report
    named.peers[0].name = "Ann of Essex"
    let shown = "Ann of Essex \(report.peers[0].id)"
    #expect(named.table(width: 200).contains("Ann of Essex (\(report.peers[0].id.prefix(6)))"))
    let isOnPage = HTMLReport(named).text.contains(shown)
    #expect(isOnPage && named.junit.contains(shown))
    #expect(try CheckReport(parsing: Array(named.json.utf8)).peers[0].name == "Ann of Essex")
  }

  @Test("names from the network are made printable")
  func hostile() {
    var hostile = report
    hostile.peers[0].streams?[0].content = SampleReport.evil
    hostile.peers[0].name = SampleReport.evil
    #expect(ParsedXML.problem(of: HTMLReport(hostile).text) == nil)
    #expect(ParsedXML.problem(of: hostile.junit) == nil)
    let isPrintable = hostile.table(width: 80).unicodeScalars.allSatisfy { $0 == "\n" || ReportText.isPrintable($0) }
    #expect(isPrintable)
    let widest = hostile.table(width: 60).split(separator: "\n").map { TerminalText.width(String($0)) }.max() ?? 0
    #expect(widest <= 60)
  }
}
