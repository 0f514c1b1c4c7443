import Media
import NIOCore
import TestSupport
import Testing

@Suite("Lossy link")
struct LossyLinkTests {
  private let start = MonotonicInstant.now

  /// Sends numbered datagrams of 1,000 bytes, one a millisecond, and returns those that arrive with their delays.
  private func run(_ link: inout LossyLink, count: Int = 10_000) -> [(number: Int, way: Duration)] {
    var received: [(Int, Duration)] = []
    for number in 0..<count {
      var datagram = ByteBuffer(integer: UInt32(number))
      datagram.writeRepeatingByte(0, count: 996)
      link.send(datagram, now: start + .milliseconds(number))
    }
    while let arrival = link.deadline, let datagram = link.receive(now: arrival) {
      let number = Int(datagram.getInteger(at: 0, as: UInt32.self) ?? 0)
      received.append((number, arrival - (start + .milliseconds(number))))
    }
    return received
  }

  @Test("a link without loss delivers every datagram after its delay")
  func good() {
    var link = LossyLink(.init(delay: .milliseconds(25)), seed: 1)
    let received = run(&link)
    #expect(received.map(\.number) == Array(0..<10_000))
    expectAll(received) { $0.way == .milliseconds(25) }
  }

  @Test(
    "the rates of loss and duplication are the configured ones, and the seed determines which datagrams they affect")
  func shares() {
    var link = LossyLink(.init(loss: 0.1, duplication: 0.05), seed: 1)
    var same = LossyLink(.init(loss: 0.1, duplication: 0.05), seed: 1)
    let received = run(&link)
    #expect(abs(link.counts.lost - 1_000) < 100)
    #expect(abs(link.counts.doubled - 450) < 80)
    #expect(received.map(\.number) == run(&same).map(\.number))
  }

  @Test("bursts have the configured rate and mean length")
  func bursts() {
    var conditions = LossyLink.Conditions()
    conditions.bursts = .init(share: 0.1, meanLength: 4)
    var link = LossyLink(conditions, seed: 1)
    let came = Set(run(&link, count: 50_000).map(\.number))
    #expect(abs(Double(link.counts.lost) / 50_000 - 0.1) < 0.02)
    var bursts = 0
    for number in 1..<50_000 where !came.contains(number) && came.contains(number - 1) { bursts += 1 }
    #expect(abs(Double(link.counts.lost) / Double(bursts) - 4) < 0.5)
  }

  @Test("jitter keeps the order, and reordering does not")
  func order() {
    var jittery = LossyLink(.init(delay: .milliseconds(5), jitter: .milliseconds(10)), seed: 1)
    let inOrder = run(&jittery)
    #expect(inOrder.map(\.number) == Array(0..<10_000))
    #expect(inOrder.allSatisfy { $0.way >= .milliseconds(5) && $0.way < .milliseconds(15) })
    var reordering = LossyLink(.init(reordering: 0.1), seed: 1)
    let mixed = run(&reordering)
    #expect(mixed.map(\.number) != Array(0..<10_000))
    #expect(mixed.map(\.number).sorted() == Array(0..<10_000))
  }

  @Test("a slow link queues datagrams and drops those that would wait too long")
  func rate() {
    // 8 Mb/s are sent, and 4 Mb/s pass.
    var link = LossyLink(.init(rate: 4_000_000), seed: 1)
    let received = run(&link)
    #expect(abs(link.counts.lost - 5_000) < 150)
    expectAll(received) { $0.way <= .milliseconds(203) }
  }
}
