import CallCheck
import CallCheckTestSupport
import CallReport
import Media
import Testing

@Suite("Peers that join just before the end")
struct LateJoinersTests {
  private static let other = ParticipantID("peer-2")

  /// Returns the report of a good call of 8 s with one peer, and another that joins at a given time; its media follow
  /// if there is enough time.
  private func report(
    another came: Double, media: Double? = nil, leaves: Double? = nil, expected: Int = 1
  ) throws -> CheckReport {
    let call = SyntheticCall()
    var options = call.options
    options.expected.peers = expected
    let judge = CallJudge(options)
    judge.joined(at: SyntheticCall.instant(0.2))
    let participantEvents = try call.participantEvents()
    for participantEvent in participantEvents {
      judge.receive(participantEvent.event, of: SyntheticCall.peer, at: SyntheticCall.instant(participantEvent.time))
    }
    judge.step(.appeared, of: Self.other, at: SyntheticCall.instant(came))
    if let media {
      for case .frame(var frame) in participantEvents.map(\.event) {
        frame.arrival += .milliseconds(Int(((media - 1) * 1_000).rounded()))
        if frame.arrival < SyntheticCall.instant(call.duration) {
          judge.receive(frame, from: Self.other, at: frame.arrival)
        }
      }
    }
    if let leaves { judge.step(.departed(.left, "It left."), of: Self.other, at: SyntheticCall.instant(leaves)) }
    return judge.report(at: SyntheticCall.instant(call.duration))
  }

  @Test("are listed and do not fail, whether they were connected or not", arguments: [nil, 7.5])
  func reported(media: Double?) throws {
    let report = try report(another: 7, media: media)
    #expect(report.verdict == .held, "\(report.reported)")
    #expect(report.summary.hasSuffix("rules held for 1 peer."))
    #expect(report.peers.map(\.timeLeftAfterLateJoin) == [nil, 1])
    #expect(report.results.allSatisfy { $0.peer != Self.other.text })
    let sentence = "1 peer joined only 1 s before the end, too late to be judged."
    #expect(report.limitations == [sentence])
    #expect(report.table(width: 200).contains(sentence))
    let isOnPage = HTMLReport(report).text.contains(sentence)
    #expect(isOnPage)
    #expect(try CheckReport(parsing: Array(report.json.utf8)).peers[1].timeLeftAfterLateJoin == 1)
  }

  @Test("are judged after 2 s if they send everything, and after 5 s in any case")
  func limits() throws {
    func failed(_ came: Double, media: Double? = nil, leaves: Double? = nil) throws -> Bool {
      try report(another: came, media: media, leaves: leaves).results.contains {
        $0.peer == Self.other.text && !$0.holds
      }
    }
    func isJudged(_ came: Double, media: Double? = nil) throws -> Bool {
      try report(another: came, media: media).peers[1].timeLeftAfterLateJoin == nil
    }
    #expect(try !isJudged(6.1, media: 6.3))
    #expect(try isJudged(5.9, media: 6.1))
    #expect(try !isJudged(5.9))
    #expect(try !isJudged(3.1))
    #expect(try isJudged(2.9))
    #expect(try failed(2.9))
    #expect(try failed(4, leaves: 5), "a peer that has left is no longer connecting")
    #expect(try !failed(7, leaves: 7.5))
  }

  @Test("are judged like all others if they are expected: an expected peer that joins too late fails")
  func expected() throws {
    let report = try report(another: 7.9, expected: 2)
    #expect(report.peers.map(\.timeLeftAfterLateJoin) == [nil, nil])
    #expect(report.verdict == .failed)
    #expect(report.result("peers >= 2")?.holds == false)
    #expect(report.results.contains { $0.peer == Self.other.text && $0.outcome == .notMeasured })
  }

  @Test("are not compared with the peers of a baseline")
  func compared() throws {
    let report = try report(another: 7.5)
    let comparison = report.compared(with: try SyntheticCall().report())
    #expect(comparison.remarks == [])
    #expect(comparison.newFailures.isEmpty && comparison.worse.isEmpty)
  }
}
