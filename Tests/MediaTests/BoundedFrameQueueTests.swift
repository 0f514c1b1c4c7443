import Media
import NIOCore
import Testing

@Suite("The bounded frame queue")
struct BoundedFrameQueueTests {
  @Test("it returns everything once and in order, and reuses the memory of the returned buffer")
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

  @Test("it keeps elements that were appended before a buffer is returned for reuse")
  func meantime() {
    var queue = BoundedFrameQueue<Int>()
    for number in 0..<10 { queue.append(number, bytes: 1) }
    let taken = queue.takeAll()
    queue.append(10, bytes: 7)
    queue.reuse(taken)
    #expect(queue.count == 1 && queue.bytes == 7 && queue.first == 10)
  }
}
