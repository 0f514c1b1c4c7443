import CallCheck
import Foundation
import Load
import Testing

@Suite("the rules of a load")
struct LoadRuleTests {
  private func report(_ fields: [String: Any] = [:]) throws -> LoadReport {
    var object: [String: Any] = [
      "version": 1, "room": "100", "server": "ws://localhost:3000", "source": "a file", "publishers": 50, "started": 50,
      "joined": 50, "connected": 49, "connections": 98, "seconds": 10,
      "connectTime": ["count": 49, "median": 900, "p95": 2_950, "worst": 4_000],
      "sent": ["frames": 1_000, "packets": 2_000, "bytes": 2_000_000, "bitrate": 1_600_000],
      "lost": ["packets": 30, "fraction": 0.015], "keyframeRequests": 4,
      "received": ["frames": 0, "packets": 0, "bytes": 0], "lateness": 12,
      "failures": [["reason": "No answer.", "count": 1] as [String: Any]],
    ]
    object.merge(fields) { $1 }
    return try JSONDecoder().decode(LoadReport.self, from: JSONSerialization.data(withJSONObject: object))
  }

  @Test(
    "they compare what was measured with a limit in its unit",
    arguments: [
      ("publishers.connected >= 50", false), ("publishers.connected >= 49", true),
      ("publishers.timeToConnect.p95 <= 3s", true), ("publishers.timeToConnect.worst <= 3s", false),
      ("publishers.timeToConnect.p50 < 1000ms", true), ("sent.bitrate >= 1.6Mbit", true), ("sent.loss <= 1%", false),
      ("sent.loss <= 0.015", true), ("lateness <= 20ms", true), ("failures == 0", false), ("connections != 98", false),
      ("  sent.frames>999 ", true),
    ])
  func judged(text: String, holds: Bool) throws {
    var report = try report()
    let result = report.judge(by: [try LoadRule(text)])
    #expect(result == holds && report.results?.map(\.outcome) == [holds ? .held : .failed])
  }

  @Test("a result has the rule, the value, the limit and a sentence")
  func result() throws {
    var report = try report()
    report.judge(by: [try LoadRule("publishers.timeToConnect.p95<=2s"), try LoadRule("viewers.connected == 1")])
    let results = try #require(report.results)
    let first = results[0]
    #expect((first.rule, first.measurement) == ("publishers.timeToConnect.p95 <= 2s", "publishers.timeToConnect.p95"))
    #expect(first.value == 2.95 && first.limit == 2 && first.unit == "s" && first.figure == "2.95 s")
    #expect(first.sentence == "Time to connect (95th percentile): 2.95 s; the rule requires at most 2 s.")
    // What was not measured does not hold.
    #expect(results[1].outcome == .notMeasured && results[1].value == nil)
    #expect(results[1].sentence.hasSuffix("could not be measured, because there were no viewers."))
    let text = try report.json
    let read = try JSONDecoder().decode(LoadReport.self, from: Data(text.utf8))
    #expect(read.results == results)
  }

  private func viewers(_ fields: [String: Any] = [:]) -> [String: Any] {
    let received: [String: Any] = [
      "frames": 0, "packets": 0, "bytes": 0, "bitrate": 0, "lost": ["packets": 0, "fraction": 0], "recovered": 0,
      "freezes": 0, "frozenTime": 0, "longestFreeze": 0,
    ]
    let viewers: [String: Any] = [
      "requested": 1, "started": 1, "joined": 1, "connected": 1, "receiving": 0, "receivingVideo": 0,
      "received": received,
    ]
    return viewers.merging(fields) { $1 }
  }

  private func data(_ fields: [String: Any] = [:]) -> [String: Any] {
    let data: [String: Any] = ["opened": 0, "sent": 0, "returned": 0, "lost": 0, "disordered": 0, "throughput": 0]
    return data.merging(fields) { $1 }
  }

  @Test("a rule does not hold if nothing was measured, and the sentence says why")
  func notMeasured() throws {
    let nothing: [String: Any] = ["frames": 0, "packets": 0, "bytes": 0, "bitrate": 0]
    let unreported: [String: Any] = ["packets": 0, "fraction": 0, "reports": 0]
    func check(_ rule: String, _ fields: [String: Any], _ reason: String) throws {
      var report = try report(fields)
      let holds = report.judge(by: [try LoadRule(rule)])
      let result = report.results?.first
      #expect(!holds && result?.outcome == .notMeasured, "\(rule)")
      #expect(result?.sentence.hasSuffix("could not be measured, because \(reason).") == true, "\(rule)")
    }
    for rule in ["received.freezes == 0", "received.freeze.longest <= 1s", "received.freeze.total <= 1s"] {
      try check(rule, [:], "there were no viewers")
      try check(rule, ["viewers": viewers()], "no viewer received video")
      try check(rule, ["viewers": viewers(["receiving": 1])], "no viewer received video")
    }
    try check("received.loss <= 1%", ["viewers": viewers()], "no viewer received a packet")
    try check("viewers.timeToJoin.p50 <= 1s", [:], "there were no viewers")
    try check("viewers.timeToJoin.p50 <= 1s", ["viewers": viewers()], "no viewer joined the room")
    try check("sent.loss <= 1%", ["lost": unreported], "no receiver reported")
    try check("sent.loss <= 1%", ["sent": nothing], "nothing was sent")
    try check("sent.keyframeRequests <= 5", ["connected": 0], "no publisher was connected")
    for rule in [
      "sent.bitrate <= 5Mbit", "sent.packets <= 5", "sent.frames <= 5", "sent.loss <= 1%", "sent.keyframeRequests <= 5",
      "publishers.connected >= 0", "connections >= 0",
    ] {
      try check(rule, ["publishers": 0, "sent": nothing, "viewers": viewers()], "there were no publishers")
    }
    for rule in ["data.loss <= 1%", "data.throughput <= 1Mbit", "data.rtt.p50 <= 1s"] {
      try check(rule, [:], "there were no data channels; use --data")
      try check(rule, ["data": data()], "no data channel was opened")
    }
    try check("data.loss <= 1%", ["data": data(["opened": 1, "sent": 3])], "no message had 2 s to come back")
    try check("data.rtt.p50 <= 1s", ["data": data(["opened": 1, "sent": 3])], "no message came back")
  }

  @Test("failures are the publishers and viewers that failed, also those who met nobody")
  func failures() throws {
    func row(_ failure: String?) -> [String: Any] {
      let row: [String: Any] = ["number": 1, "peers": 0, "connections": 0]
      return failure.map { row.merging(["failure": $0]) { $1 } } ?? row
    }
    func outcome(_ rows: [[String: Any]]) throws -> RuleResult? {
      var report = try report(["failures": [] as [String], "eachPublisher": rows, "eachViewer": [row(nil)]])
      report.judge(by: [try LoadRule("failures == 0")])
      return report.results?.first
    }
    let alone = try outcome([row("Nobody else was in the room."), row(nil)])
    #expect(alone?.outcome == .failed && alone?.value == 1)
    #expect(try outcome([row(nil)])?.outcome == .held)
  }

  @Test("an unknown measurement is refused with the list of all, and a limit without its unit with an example")
  func refused() {
    let unknown = #expect(throws: LoadRule.ParseError.self) { try LoadRule("video.fps >= 24") }
    let text = unknown?.description ?? ""
    #expect(text.hasPrefix("There is no measurement \"video.fps\" of a load; there are publishers.started, "))
    #expect(LoadRule.measurements.allSatisfy { text.contains($0) })
    let unit = #expect(throws: LoadRule.ParseError.self) { try LoadRule("publishers.timeToConnect.p95 <= 3") }
    #expect(unit?.description == "publishers.timeToConnect.p95 needs a unit: write 500ms or 2s instead of 3.")
    for text in ["", "publishers.connected", "publishers.connected >=", ">= 3", "sent.loss <= 2", "failures == many"] {
      #expect(throws: LoadRule.ParseError.self) { try LoadRule(text) }
    }
    let hostile = #expect(throws: LoadRule.ParseError.self) { try LoadRule("a\u{1B}[2J\n >= 1") }
    #expect(hostile?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
  }

  @Test("docs/load.md lists every measurement, and no other")
  func documented() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: folder.appendingPathComponent("docs/load.md"), encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
      $0.split(separator: "|").map(String.init)
    }
    for measurement in LoadMeasurement.catalogue {
      let row = rows.first { $0[0].contains("`\(measurement.name)`") }
      #expect(row?[1].contains(measurement.unit.example) == true, "\(measurement.name)")
    }
    #expect(Set(LoadRule.measurements).count == LoadRule.measurements.count)
    let table = text.split(separator: "\n", omittingEmptySubsequences: false)
      .drop { !$0.hasPrefix("| measurement |") }.prefix { !$0.isEmpty }
    let names = table.dropFirst(2).flatMap { row in
      row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.first?.isLetter == true }
    }
    #expect(names.sorted() == LoadRule.measurements.sorted())
  }
}
