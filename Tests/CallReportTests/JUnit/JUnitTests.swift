import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import Testing

@Suite("The JUnit report")
struct JUnitTests {
  private static let reports: [(String, CheckReport)] = [
    ("held", SampleReport.held), ("failed", SampleReport.failed), ("never", SampleReport.neverEstablished),
    ("hostile", SampleReport.hostile), ("recording", recording), ("screen", SampleReport.screen),
  ]

  private static var recording: CheckReport {
    var report = SampleReport.held
    report.subject = .recording
    return report
  }

  @Test("is well-formed for every report, whatever names it contains", arguments: reports.map(\.0))
  func isWellFormed(name: String) throws {
    let report = try #require(Self.reports.first { $0.0 == name }?.1)
    #expect(ParsedXML.problem(of: report.junit) == nil)
  }

  /// The parts of Jenkins' junit-10.xsd that concern the elements written here.
  @Test("conforms to the schema of Jenkins", arguments: reports.map(\.0))
  func keepsToTheSchema(name: String) throws {
    let report = try #require(Self.reports.first { $0.0 == name }?.1)
    let allowed: [String: (parents: Set<String>, required: Set<String>, optional: Set<String>)] = [
      "testsuites": ([""], ["name", "tests", "failures", "errors", "time"], ["disabled"]),
      "testsuite": (
        ["testsuites"], ["name", "tests"],
        ["failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package"]
      ),
      "properties": (["testsuite"], [], []),
      "property": (["properties"], ["name", "value"], []),
      "testcase": (["testsuite"], ["name", "classname"], ["time", "assertions", "status"]),
      "failure": (["testcase"], [], ["message", "type"]),
      "error": (["testcase"], [], ["message", "type"]),
      "system-out": (["testcase", "testsuite"], [], []),
    ]
    for element in ParsedXML.elements(of: report.junit) {
      let rule = try #require(allowed[element.name])
      let (names, parent) = (Set(element.attributes.keys), element.path.last ?? "")
      #expect(rule.parents.contains(parent))
      #expect(rule.required.isSubset(of: names))
      #expect(names.isSubset(of: rule.required.union(rule.optional)))
      if let time = element.attributes["time"] { #expect(Double(time).map { $0 >= 0 } == true) }
      if let stamp = element.attributes["timestamp"] {
        #expect(stamp.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/) != nil)
      }
    }
  }

  @Test("has the right counts in every suite", arguments: reports.map(\.0))
  func countsAgree(name: String) throws {
    let report = try #require(Self.reports.first { $0.0 == name }?.1)
    let elements = ParsedXML.elements(of: report.junit)
    func isIn(_ element: ParsedXML.Element, _ position: Int) -> Bool {
      var parent = element.parent
      while let index = parent {
        if index == position { return true }
        parent = elements[index].parent
      }
      return false
    }
    for (position, suite) in elements.enumerated() where suite.name.hasPrefix("testsuite") {
      for (count, child) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error")] {
        let found = elements.count { $0.name == child && isIn($0, position) }
        #expect(suite.attributes[count] == "\(found)")
      }
    }
    let cases = elements.filter { $0.name == "testcase" }
    let names = Set(cases.map { "\($0.attributes["classname"] ?? "") \($0.attributes["name"] ?? "")" })
    #expect(names.count == cases.count)
    // One case for each result, and one for the call as a whole.
    #expect(cases.count == report.results.count + (report.subject == .call ? 1 : 0))
  }

  @Test("has a case for each rule and peer, and a failure with value and sentence for a failed rule")
  func tellsWhatFailed() throws {
    let elements = ParsedXML.elements(of: SampleReport.failed.junit)
    let failures = elements.filter { $0.name == "failure" }
    #expect(failures.map { $0.attributes["type"] } == ["failed", "failed"])
    let freeze = try #require(failures.first)
    #expect(freeze.attributes["message"]?.contains("2.03 s at 8.12 s, because packets were lost") == true)
    #expect(freeze.text.contains("rule      video.freeze.longest <= 500ms"))
    #expect(freeze.text.contains("measured  2.03 s"))
    #expect(freeze.text.contains("of        peer 2, b9a7c2d4-15e6-4c0b-8f3a-77d2e9c01f55"))
    let broken = try #require(freeze.parent.map { elements[$0] })
    #expect(broken.attributes["classname"] == "call.peer 2")
    #expect(broken.attributes["name"] == "video.freeze.longest <= 500ms")
    #expect(elements.filter { $0.name == "testsuite" }.map { $0.attributes["name"] } == ["room", "peer 1", "peer 2"])
    #expect(elements.first { $0.name == "testsuite" }?.attributes["timestamp"] == "2026-11-21T19:20:00")
  }

  @Test("reports a call that was never established as an error, and every rule that could not be measured as a failure")
  func tellsOfNoCall() throws {
    let elements = ParsedXML.elements(of: SampleReport.neverEstablished.junit)
    let errors = elements.filter { $0.name == "error" }
    #expect(errors.count == 1)
    #expect(errors.first?.attributes["message"]?.contains("only mDNS names") == true)
    #expect(
      elements.filter { $0.name == "failure" }.map { $0.attributes["type"] ?? "" }.sorted() == [
        "failed", "notMeasured", "notMeasured", "notMeasured", "notMeasured",
      ])
  }

  @Test("names a peer by its order of joining, so that the names are the same in the next call")
  func namesAreStable() {
    var again = SampleReport.failed
    for index in again.peers.indices { again.peers[index].id = "other-\(index)" }
    for index in again.results.indices {
      again.results[index].peer =
        again.results[index].peer == SampleReport.failed.peers[0].id
        ? "other-0" : again.results[index].peer == nil ? nil : "other-1"
    }
    func names(_ report: CheckReport) -> [String] {
      ParsedXML.elements(of: report.junit).filter { $0.name == "testcase" }
        .map { "\($0.attributes["classname"] ?? "").\($0.attributes["name"] ?? "")" }
    }
    let (first, second) = (names(SampleReport.failed), names(again))
    #expect(first == second)
    #expect(first.count == 18)
  }

  @Test("has the same cases in every room, also if an expected peer never joined")
  func casesAreStable() throws {
    func cases(_ report: CheckReport) -> [String] {
      ParsedXML.elements(of: report.junit).filter { $0.name == "testcase" }
        .map { "\($0.attributes["classname"] ?? ""): \($0.attributes["name"] ?? "")" }
    }
    func report(of came: Int, room: String = "100") throws -> CheckReport {
      var options = SyntheticCall().options
      options.room = room
      options.expected.peers = 2
      options.rules = RuleList(
        try ["peers >= 2", "video.fps >= 15", "video.fps >= 15", "loss <= 5%"].map { try Rule($0) })
      let judge = CallJudge(options)
      judge.joined(at: SyntheticCall.instant(0.2))
      for participantEvent in try SyntheticCall().participantEvents() {
        for number in 0..<came {
          judge.receive(
            participantEvent.event, of: ParticipantID("\(room) \(number)"),
            at: SyntheticCall.instant(participantEvent.time))
        }
      }
      return judge.report(at: SyntheticCall.instant(8))
    }
    let whole = try report(of: 2)
    #expect(whole.verdict == .held)
    let expected = [
      "call.room: the call is established", "call.room: peers >= 2", "call.peer 1: video.fps >= 15",
      "call.peer 1: video.fps >= 15 (2)", "call.peer 1: loss <= 5%", "call.peer 2: video.fps >= 15",
      "call.peer 2: video.fps >= 15 (2)", "call.peer 2: loss <= 5%",
    ]
    #expect(cases(whole) == expected)
    for came in [0, 1, 2] { #expect(cases(try report(of: came, room: "ci-1234.\(came)")) == expected) }
    let failures = ParsedXML.elements(of: try report(of: 1).junit).filter { $0.name == "failure" }
    #expect(failures.last?.attributes["message"] == "Loss could not be measured: peer 2 never joined.")
    let rooms = ParsedXML.elements(of: whole.junit).filter { $0.attributes["name"] == "room" && $0.name == "property" }
    #expect(rooms.map { $0.attributes["value"] } == ["100", "100", "100"])
  }

  @Test("keeps every character that XML allows and replaces the others")
  func keepsText() throws {
    var report = SampleReport.held
    report.results[0].rule = "a < b && \"c\" ]]> \u{1F600} e\u{301}\u{0}\u{FFFF}\u{1B}"
    let names = ParsedXML.elements(of: report.junit).filter { $0.name == "testcase" }.compactMap {
      $0.attributes["name"]
    }
    let expected = "a < b && \"c\" ]]> \u{1F600} e\u{301}\u{FFFD}\u{FFFD}\u{FFFD}"
    #expect(names.contains(expected))
  }

  @Test("distinguishes a rule that is given twice")
  func keepsDoublesApart() {
    var report = SampleReport.held
    report.results.append(report.results[0])
    let names = ParsedXML.elements(of: report.junit).compactMap { $0.name == "testcase" ? $0.attributes["name"] : nil }
    #expect(names.contains("peers == 2"))
    #expect(names.contains("peers == 2 (2)"))
  }

  @Test("is the same for the same report, byte for byte")
  func isTheSame() {
    let (first, second) = (SampleReport.hostile.junit, SampleReport.hostile.junit)
    #expect(Array(first.utf8).elementsEqual(second.utf8))
  }
}
