import Load
import Testing

@Suite("the distribution of measurements")
struct DistributionTests {
  @Test("of 100 values in any order the 50th, the 95th and the last are reported")
  func hundred() throws {
    let spread = try #require(LoadReport.Distribution((1...100).map(Double.init).shuffled()))
    #expect(spread.count == 100)
    #expect(spread.median == 50)
    #expect(spread.p95 == 95)
    #expect(spread.worst == 100)
  }

  @Test("a single value is the median, the 95th percentile and the worst")
  func one() throws {
    let spread = try #require(LoadReport.Distribution([7]))
    #expect([spread.median, spread.p95, spread.worst] == [7, 7, 7])
  }

  @Test("of a few values the worst is also the 95th percentile")
  func few() throws {
    let spread = try #require(LoadReport.Distribution([3, 1, 2]))
    #expect([spread.median, spread.p95, spread.worst] == [2, 3, 3])
  }

  @Test("without finite values there is no distribution")
  func none() {
    #expect(LoadReport.Distribution([]) == nil)
    #expect(LoadReport.Distribution([.nan, .infinity]) == nil)
  }
}
