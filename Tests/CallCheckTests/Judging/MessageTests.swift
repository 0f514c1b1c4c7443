import CallCheck
import CallCheckTestSupport
import CallReport
import FoundationEssentials
import Testing

@Suite("Chat messages of a call")
struct MessageTests {
  private func report(_ texts: [String]) -> CheckReport {
    let judge = CallJudge(.init(start: SyntheticCall.start, room: "100"))
    judge.joined(at: SyntheticCall.start)
    for (index, text) in texts.enumerated() {
      judge.receive(
        .message(from: index == 1 ? "me" : "anna", name: index == 1 ? nil : "Anna", text: text),
        of: SyntheticCall.peer, at: SyntheticCall.instant(1 + Double(index)))
    }
    return judge.report(at: SyntheticCall.instant(5))
  }

  @Test("they are in the report with their times and senders, the first 200 of them, and cut after 500 characters")
  func inReport() throws {
    let peer = try #require(report(["hello", "hi"]).peers.first)
    #expect(
      peer.messages == [
        MessageReport(time: 1, from: "anna", name: "Anna", text: "hello"),
        MessageReport(time: 2, from: "me", text: "hi"),
      ])
    #expect(peer.furtherMessages == nil)
    let flooded = try #require(report(Array(repeating: String(repeating: "x", count: 900), count: 207)).peers.first)
    #expect(flooded.messages?.count == 200)
    #expect(flooded.furtherMessages == 7)
    #expect(flooded.messages?.first?.text.count == 501)
    #expect(report([]).peers.isEmpty)
  }

  @Test("the HTML report has each on the time line and in a table, as text")
  func inPage() throws {
    let page = HTMLReport(report(["<script>alert(1)</script>", "second"])).text
    #expect(page.contains("<h3>Messages</h3>"))
    #expect(!page.contains("<script>alert"))
    #expect(page.contains("&lt;script>alert(1)") || page.contains("&lt;script&gt;alert(1)"))
    #expect(page.components(separatedBy: "<circle class=\"message\"").count == 3)
    #expect(page.contains("2 messages"))
  }
}
