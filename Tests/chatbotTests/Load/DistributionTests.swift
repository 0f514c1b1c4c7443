import Testing

@testable import chatbot

@Suite("how values are spread")
struct DistributionTests {
  @Test("of one hundred values the 50th, the 95th and the last are told, in whatever order they came")
  func hundred() throws {
    let spread = try #require(Distribution((1...100).map(Double.init).shuffled()))
    #expect(spread.count == 100)
    #expect(spread.median == 50)
    #expect(spread.p95 == 95)
    #expect(spread.worst == 100)
  }

  @Test("one value is all three")
  func one() throws {
    let spread = try #require(Distribution([7]))
    #expect([spread.median, spread.p95, spread.worst] == [7, 7, 7])
  }

  @Test("of a few values the worst is also the 95th")
  func few() throws {
    let spread = try #require(Distribution([3, 1, 2]))
    #expect([spread.median, spread.p95, spread.worst] == [2, 3, 3])
  }

  @Test("no values, and none that are numbers, have no distribution")
  func none() {
    #expect(Distribution([]) == nil)
    #expect(Distribution([.nan, .infinity]) == nil)
  }
}
