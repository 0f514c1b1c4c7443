import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import Testing

@Suite("Loss of the room server")
struct SignallingTests {
  private func report(
    _ rules: [String] = [], _ happen: (CallJudge) -> Void
  ) throws -> CheckReport {
    let judge = try SyntheticCall().judge {
      if !rules.isEmpty { $0.rules = RuleList(rules.compactMap { try? Rule($0) }) }
    }
    happen(judge)
    return judge.report(at: SyntheticCall.instant(8))
  }

  @Test("is reported with its time in the table, JSON, HTML and JUnit; the rules about media still decide")
  func reported() throws {
    let report = try report { judge in
      judge.disconnected(at: SyntheticCall.instant(3), because: "The server closed the connection.")
      // A failed attempt to reconnect is part of the same loss.
      judge.disconnected(at: SyntheticCall.instant(4), because: "Nothing listens there.")
    }
    #expect(report.verdict == .held, "\(report.reported)")
    let losses = try #require(report.roomReport.signallingLost)
    #expect(losses == [.init(start: 3, duration: 5, restored: false, reason: "The server closed the connection.")])
    let sentence =
      "The connection to the room server was lost at 3 s and not restored (the server closed the connection). "
      + "Calls continue without it, but no new peer can join."
    #expect(report.limitations == [sentence])
    #expect(report.table(width: 300).contains(sentence))
    let isOnPage = HTMLReport(report).text.contains("server was lost at 3 s")
    #expect(isOnPage && report.junit.contains("server was lost at 3 s"))
    #expect(try CheckReport(parsing: Array(report.json.utf8)).roomReport.signallingLost == losses)
  }

  @Test("ends when the server admits us again")
  func restored() throws {
    let report = try report { judge in
      for time in [2.0, 5] {
        judge.disconnected(at: SyntheticCall.instant(time), because: "Gone.")
        judge.joined(at: SyntheticCall.instant(time + 0.75))
      }
    }
    #expect(report.roomReport.signallingLost?.map(\.duration) == [0.75, 0.75])
    #expect(report.roomReport.signallingLost?.allSatisfy(\.restored) == true)
    #expect(report.limitations.first?.contains("was lost 2 times, first at 2 s (gone), for 1.5 s in all") == true)
    #expect(report.roomReport.joined == 0.2)
  }

  @Test("can be limited by rules about its duration and count")
  func rules() throws {
    let rules = ["signalling.lost <= 1s", "signalling.lost <= 2s", "signalling.lost.count == 0"]
    let lost = try report(rules) { judge in
      judge.disconnected(at: SyntheticCall.instant(2), because: "Gone.")
      judge.joined(at: SyntheticCall.instant(3.5))
    }
    #expect(lost.failedRules == ["signalling.lost <= 1s", "signalling.lost.count == 0"])
    #expect(lost.result("signalling.lost <= 1s")?.sentence.contains("1.5 s, first at 2 s") == true)
    #expect(try report(rules) { _ in }.failedRules == [])
  }

  @Test("is not measured without a server, as for a recording")
  func recording() throws {
    var options = SyntheticCall().options
    options.subject = .recording
    options.rules = RuleList([try Rule("signalling.lost <= 1s")])
    let judge = CallJudge(options)
    for participantEvent in try SyntheticCall().participantEvents() {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    let report = judge.report(at: SyntheticCall.instant(8))
    #expect(report.results.map(\.outcome) == [.notMeasured])
    #expect(report.limitations == [])
  }
}
