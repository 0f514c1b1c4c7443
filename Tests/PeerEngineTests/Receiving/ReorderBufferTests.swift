import PeerEngine
import Testing

@Suite("Reorder buffer")
struct ReorderBufferTests {
  @Test("packets are returned in order, whatever order they were inserted in")
  func order() {
    var buffer = ReorderBuffer<Int>(first: 10, capacity: 64)
    for sequence in [12, 10, 13, 11] as [Int64] { #expect(buffer.insert(Int(sequence), at: sequence) == .stored) }
    var out: [Int] = []
    while let next = buffer.popNext() { out.append(next) }
    #expect(out == [10, 11, 12, 13])
    #expect(buffer.isEmpty)
    #expect(buffer.next == 14)
  }

  @Test("a second packet with the same number is a duplicate, and one before the next expected number is late")
  func duplicates() {
    var buffer = ReorderBuffer<Int>(first: 0, capacity: 64)
    #expect(buffer.insert(1, at: 1) == .stored)
    #expect(buffer.insert(1, at: 1) == .duplicate)
    #expect(buffer.insert(0, at: 0) == .stored)
    #expect(buffer.popNext() == 0)
    #expect(buffer.insert(0, at: 0) == .late)
  }

  @Test("a gap blocks the packets after it until it is skipped")
  func hole() {
    var buffer = ReorderBuffer<Int>(first: 0, capacity: 64)
    _ = buffer.insert(1, at: 1)
    #expect(buffer.popNext() == nil)
    #expect(!buffer.isEmpty)
    #expect(buffer.skip(to: 100) == 1)
    #expect(buffer.popNext() == 1)
  }

  @Test("the buffer grows to its capacity and not beyond")
  func capacity() {
    var buffer = ReorderBuffer<Int>(first: 0, capacity: 256)
    #expect(buffer.insert(255, at: 255) == .stored)
    #expect(buffer.insert(256, at: 256) == .beyond)
    for sequence in 0..<255 { _ = buffer.insert(sequence, at: Int64(sequence)) }
    var out: [Int] = []
    while let next = buffer.popNext() { out.append(next) }
    #expect(out == Array(0..<256))
    #expect(buffer.makeRoom(for: 1_000) == 745)
  }

  @Test("before the first packet is returned, an earlier packet can become the first")
  func moveBack() {
    var buffer = ReorderBuffer<Int>(first: 5, capacity: 32)
    _ = buffer.insert(5, at: 5)
    #expect(buffer.moveBack(to: 3) == true)
    #expect(buffer.insert(3, at: 3) == .stored)
    #expect(buffer.insert(4, at: 4) == .stored)
    #expect([buffer.popNext(), buffer.popNext(), buffer.popNext()] == [3, 4, 5])
    #expect(buffer.insert(40, at: 6) == .stored)
    #expect(buffer.moveBack(to: -100) == false)
  }
}
