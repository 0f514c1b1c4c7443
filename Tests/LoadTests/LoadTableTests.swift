import Foundation
import Load
import Testing

@Suite("the table of a load")
struct LoadTableTests {
  /// A report of ten seconds with the given fields.
  private func report(_ fields: [String: Any]) throws -> LoadReport {
    var object: [String: Any] = [
      "version": 1, "room": "100", "server": "ws://localhost:3000", "source": "a file", "publishers": 1, "started": 1,
      "joined": 0, "connected": 0, "connections": 0, "seconds": 10,
      "sent": ["frames": 0, "packets": 0, "bytes": 0, "bitrate": 0], "lost": ["packets": 0, "fraction": 0],
      "keyframeRequests": 0, "received": ["frames": 0, "packets": 0, "bytes": 0], "failures": [] as [String],
    ]
    object.merge(fields) { $1 }
    return try JSONDecoder().decode(LoadReport.self, from: JSONSerialization.data(withJSONObject: object))
  }

  private func distribution(_ count: Int, _ median: Double, _ p95: Double, _ worst: Double) -> [String: Any] {
    ["count": count, "median": median, "p95": p95, "worst": worst]
  }

  @Test("shows the values of the report")
  func values() throws {
    let lines = LoadTable(
      try report([
        "publishers": 3, "started": 3, "joined": 2, "connected": 2, "connections": 2,
        "joinTime": distribution(2, 5, 5, 5), "connectTime": distribution(2, 80, 100, 100),
        "roundTripTime": distribution(2, 2, 2, 2),
        "sent": ["frames": 617_283, "packets": 1_234_567, "bytes": 1_234_567_000, "bitrate": 987_653_600],
        "lost": ["packets": 12, "fraction": 0.000_009_7], "keyframeRequests": 2,
        "failures": [["reason": "No answer.\u{1B}[2J", "count": 1] as [String: Any]],
      ])
    ).lines
    #expect(
      lines == [
        "3 publishers in room 100, 10.0 s since the last one started",
        "",
        "                   reached        median          95 %         worst",
        "  joined            2 of 3        5.0 ms        5.0 ms        5.0 ms",
        "  connected         2 of 3       80.0 ms      100.0 ms      100.0 ms",
        "  round trip                      2.0 ms        2.0 ms        2.0 ms",
        "",
        "  sent        1,234,567 packets, 617,283 frames, 1.2 GB; 987.7 Mb/s",
        "  lost        12 packets, 0.00 %",
        "  keyframes   2 requested",
        "  failed      1 x No answer.[2J",
      ])
  }

  @Test("without a connection has dashes instead of times")
  func nobody() throws {
    let lines = LoadTable(try report([:])).lines
    #expect(lines[0] == "1 publisher in room 100, 10.0 s since the last one started")
    #expect(lines[4] == "  connected         0 of 1             -             -             -")
  }

  @Test("shows what data channels carried")
  func data() throws {
    let lines = LoadTable(
      try report([
        "data": [
          "opened": 2, "sent": 200, "returned": 196, "lost": 2, "disordered": 0, "throughput": 160_000,
          "roundTripTime": distribution(2, 5, 5, 5),
        ] as [String: Any]
      ])
    ).lines
    #expect(lines.contains { $0.contains("196 of 200 came back, 1.00 % lost; 160 kb/s") })
  }

  @Test("shows viewers, and rules with their results")
  func viewers() throws {
    let reception: [String: Any] = [
      "frames": 1_000, "packets": 12_345, "bytes": 9_876_000, "bitrate": 7_900_800,
      "lost": ["packets": 5, "fraction": 0.0004],
      "recovered": 7, "freezes": 2, "frozenTime": 1_080.0, "longestFreeze": 540.5,
    ]
    let viewers: [String: Any] = [
      "requested": 10, "started": 10, "joined": 10, "connected": 10, "receiving": 9, "received": reception,
      "firstFrameTime": distribution(9, 120, 130, 140), "lowestBitrate": 790_000,
    ]
    var report = try report(["publishers": 0, "started": 0, "viewers": viewers])
    let isHeld = report.judge(by: [try LoadRule("viewers.connected == 10"), try LoadRule("viewers.receiving == 10")])
    #expect(!isHeld)
    #expect(report.warning == nil)
    #expect(
      LoadTable(report).failedRules == [
        "  rules       failed: viewers.receiving == 10. Viewers that received a frame: 9; the rule requires exactly 10."
      ])
    #expect(
      LoadTable(report).lines == [
        "10 viewers in room 100, 10.0 s since the last one started",
        "",
        "  viewers          reached        median          95 %         worst",
        "  joined          10 of 10             -             -             -",
        "  connected       10 of 10             -             -             -",
        "  first frame      9 of 10      120.0 ms      130.0 ms      140.0 ms",
        "  round trip                           -             -             -",
        "",
        "  received    12,345 packets, 1,000 frames, 9.9 MB; 7.9 Mb/s, at least 790 kb/s each",
        "  lost        5 packets, 0.04 %; 7 recovered",
        "  freezes     2, 1080.0 ms in all, 540.5 ms the longest",
        "  rules       held: viewers.connected == 10. Viewers that were connected to someone: 10; the rule requires exactly 10.",
        "              failed: viewers.receiving == 10. Viewers that received a frame: 9; the rule requires exactly 10.",
      ])
    report.publishers = 1
    #expect(
      LoadTable(report).lines[0] == "1 publisher and 10 viewers in room 100, 10.0 s since the beginning; 10 started")
  }

  @Test("shows ten failures, and how many more there are")
  func failures() throws {
    func lines(_ count: Int) throws -> [String] {
      let failures = (0..<count).map { ["reason": "Error \($0).", "count": 1] as [String: Any] }
      return LoadTable(try report(["failures": failures])).lines.filter { $0.contains("Error") || $0.contains("more") }
    }
    #expect(try lines(10).count == 10 && lines(10).last == "              1 x Error 9.")
    #expect(try lines(11).count == 11 && lines(11).last == "              and 1 more reason")
    #expect(try lines(65).count == 11 && lines(65).last == "              and 55 more reasons")
  }

  @Test("says what was not measured instead of zero")
  func notMeasured() throws {
    let reception: [String: Any] = [
      "frames": 0, "packets": 0, "bytes": 0, "bitrate": 0, "lost": ["packets": 0, "fraction": 0], "recovered": 0,
      "freezes": 0, "frozenTime": 0, "longestFreeze": 0,
    ]
    let viewers: [String: Any] = [
      "requested": 1, "started": 1, "joined": 1, "connected": 1, "receiving": 0, "received": reception,
    ]
    let lost: [String: Any] = ["packets": 0, "fraction": 0, "reports": 0]
    let sent: [String: Any] = ["frames": 3, "packets": 5, "bytes": 5000, "bitrate": 4000]
    let sending = try report(["lost": lost, "sent": sent, "viewers": viewers, "lateness": 1.0])
    let lines = LoadTable(sending).lines
    #expect(lines.contains("  lost        no receiver reported"))
    #expect(lines.contains("  freezes     no viewer received video"))
    #expect(lines.contains("  late        99 % of frames were sent within 1.0 ms"))
    #expect(sending.warning == "No viewer received a frame.")
    let idle = try report(["lost": lost, "viewers": viewers, "lateness": 1.0])
    let names = ["lost", "keyframes", "late"].map { "  \($0) " }
    let hasFigures = LoadTable(idle).lines.contains { line in names.contains(where: line.hasPrefix) }
    #expect(!hasFigures)
    #expect(idle.warning == "No viewer received a frame: nobody publishes there.")
    #expect(try report([:]).warning == nil)
  }

  @Test("shows the whole address where that names the room")
  func address() throws {
    let address = "whip+http://localhost:4100/whip/a-room-with-a-long-name"
    let lines = LoadTable(try report(["room": address, "server": address])).lines
    #expect(lines[0] == "1 publisher at \(address), 10.0 s since the last one started")
    let room = String(repeating: "a", count: 30)
    #expect(LoadTable(try report(["room": room])).lines[0].contains("in room \(room.prefix(24)), "))
  }

  @Test("shows apart what publishers and viewers received")
  func received() throws {
    let reception: [String: Any] = [
      "frames": 10, "packets": 20, "bytes": 3_000, "bitrate": 7_900,
      "lost": ["packets": 0, "fraction": 0], "recovered": 0, "freezes": 0, "frozenTime": 0.0, "longestFreeze": 0.0,
    ]
    let viewers: [String: Any] = [
      "requested": 1, "started": 1, "joined": 1, "connected": 1, "receiving": 1, "received": reception,
    ]
    func lines(_ packets: Int) throws -> [String] {
      let all: [String: Any] = ["frames": 12, "packets": packets, "bytes": 4_000]
      return LoadTable(try report(["received": all, "viewers": viewers])).lines.filter { $0.contains("  received  ") }
    }
    #expect(try lines(25).first == "  received    5 packets, 2 frames, 1.0 kB")
    #expect(try lines(25).count == 2 && lines(20).count == 1 && lines(3).count == 1)
  }

  @Test("says how many publishers had started when the load ended during the ramp")
  func interrupted() throws {
    let lines = LoadTable(try report(["publishers": 5, "started": 2])).lines
    #expect(lines[0] == "5 publishers in room 100, 10.0 s since the beginning; 2 started")
  }
}
