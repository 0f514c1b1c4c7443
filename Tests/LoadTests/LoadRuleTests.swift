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
    #expect((first.value, first.limit, first.unit, first.figure) == (2.95, 2, "s", "2.95 s"))
    #expect(first.sentence == "Time to connect (95th percentile): 2.95 s; the rule requires at most 2 s.")
    // What was not measured does not hold.
    #expect(results[1].outcome == .notMeasured && results[1].value == nil)
    #expect(results[1].sentence.hasSuffix("could not be measured, because there were no viewers."))
    let text = try report.json
    let read = try JSONDecoder().decode(LoadReport.self, from: Data(text.utf8))
    #expect(read.results == results)
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
  }
}
