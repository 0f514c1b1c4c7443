import Call
import Testing

@Suite("the queue of programs")
struct ProgramQueueTests {
  @Test("four run at once, the others in the order in which they came")
  func order() {
    var queue = ProgramQueue<Int>()
    var ids: [Int] = []
    for job in 0..<10 {
      switch queue.add(job) {
      case .start(let id): ids.append(id)
      case .wait: #expect(job >= 4)
      case .drop: Issue.record("job \(job) is left out")
      }
    }
    #expect(ids.count == 4 && queue.runningCount == 4 && queue.waitingCount == 6)
    var started: [Int] = []
    while let id = ids.popLast() {
      guard let next = queue.ended(id) else { continue }
      started.append(next.job)
      ids.append(next.id)
    }
    #expect(started == [4, 5, 6, 7, 8, 9] && queue.isIdle)
  }

  @Test("1,000 wait at most, and what waits can be forgotten")
  func limit() {
    var queue = ProgramQueue<Int>()
    var dropped = 0
    for job in 0..<2_000 { if case .drop = queue.add(job) { dropped += 1 } }
    #expect(dropped == 2_000 - 1_004 && queue.waitingCount == 1_000)
    let cancelled = queue.cancelWaiting()
    #expect(cancelled == 1_000 && queue.waitingCount == 0 && queue.runningCount == 4)
  }
}
