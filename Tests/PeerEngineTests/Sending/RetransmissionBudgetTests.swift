import PeerEngine
import Testing

@Suite("Retransmission budget")
struct RetransmissionBudgetTests {
  @Test("sent bytes add one and a half times as many to the budget, and more than the budget cannot be spent")
  func earning() {
    var budget = RetransmissionBudget()
    while budget.spend(1_000) {}
    let rest = budget.bytes
    #expect(rest < 1_000)
    budget.earn(1_000)
    #expect(budget.bytes == rest + 1_500)
    let spent = [1_000, 500, 1_000].map { budget.spend($0) }
    #expect(spent == [true, true, false])
    #expect(budget.bytes == rest)
  }

  @Test("the budget is limited to what an outage of a few seconds needs")
  func bound() {
    var budget = RetransmissionBudget()
    for _ in 0..<100_000 { budget.earn(1_200) }
    #expect(budget.bytes == RetransmissionBudget.maximumBytes)
  }
}
