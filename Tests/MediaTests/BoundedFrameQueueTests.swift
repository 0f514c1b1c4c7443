import Media
import NIOCore
import Testing

@Suite("A queue with its bytes counted")
struct BoundedFrameQueueTests {
  @Test("gives everything once and in order, and continues with the memory of what was taken")
  func reuse() {
    var queue = BoundedFrameQueue<Int>()
    for round in 0..<5 {
      for number in 0..<100 { queue.append(round * 100 + number, bytes: 3) }
      #expect(queue.bytes == 300)
      let taken = queue.takeAll()
      #expect(taken.map(\.element) == Array(round * 100..<round * 100 + 100))
      #expect(queue.isEmpty && queue.bytes == 0)
      queue.reuse(taken)
      #expect(queue.isEmpty && queue.bytes == 0)
    }
  }

  @Test("keeps what came in the meantime when it is given back the memory of what was taken")
  func meantime() {
    var queue = BoundedFrameQueue<Int>()
    for number in 0..<10 { queue.append(number, bytes: 1) }
    let taken = queue.takeAll()
    queue.append(10, bytes: 7)
    queue.reuse(taken)
    #expect(queue.count == 1 && queue.bytes == 7 && queue.first == 10)
  }
}
