import DataMessages
import Media
import Testing

@Suite("What all users of a call may make us keep")
struct MessageAllowancesTests {
  @Test("files of users who come back under new ids have a common limit")
  func files() {
    var allowances = MessageAllowances(maximumFileBytes: 100)
    let now = MonotonicInstant.now
    var (all, count): (Int64, Int) = (0, 0)
    for _ in 0..<100 {
      var taken: (files: Int, bytes: Int64) = (0, 0)
      while allowances.takeFile(100, by: taken, now: now) { taken = (taken.files + 1, taken.bytes + 100) }
      #expect(taken.bytes <= 1_000)
      all += taken.bytes
      count += taken.files
    }
    #expect(all <= 10_000 && count >= 10)
    allowances.giveBackFile(all)
    let isTaken = allowances.takeFile(100, by: (0, 0), now: now)
    #expect(isTaken)
  }
}
