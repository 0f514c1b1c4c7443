import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import TestSupport
import Testing

@Suite("A link with an emulated network")
struct EmulatedLinkTests {
  private let start = MonotonicInstant.now

  /// Sends numbered datagrams of 1,000 bytes, one a millisecond, and returns those that arrive with their delays.
  private func run(_ link: inout EmulatedLink, count: Int = 10_000) -> [(number: Int, way: Duration)] {
    var received: [(Int, Duration)] = []
    func arrive(until now: MonotonicInstant?) {
      while let arrival = link.deadline, now.map({ arrival <= $0 }) ?? true, let datagram = link.receive(now: arrival) {
        let number = Int(datagram.getInteger(at: 0, as: UInt32.self) ?? 0)
        received.append((number, arrival - (start + .milliseconds(number))))
      }
    }
    for number in 0..<count {
      var datagram = ByteBuffer(integer: UInt32(number))
      datagram.writeRepeatingByte(0, count: 996)
      link.send(datagram, now: start + .milliseconds(number))
      arrive(until: start + .milliseconds(number))
    }
    arrive(until: nil)
    return received
  }

  @Test("a link without loss delivers every datagram after its delay")
  func good() {
    var link = EmulatedLink(.init(delay: .milliseconds(25)), seed: 1)
    let received = run(&link)
    #expect(received.map(\.number) == Array(0..<10_000))
    expectAll(received) { $0.way == .milliseconds(25) }
  }

  @Test("a link without conditions delivers every datagram at once, in order")
  func plain() {
    var link = EmulatedLink(seed: 1)
    let received = run(&link)
    #expect(received.map(\.number) == Array(0..<10_000))
    expectAll(received) { $0.way == .zero }
  }

  @Test(
    "the rates of loss and duplication are the configured ones, and the seed determines which datagrams they affect")
  func shares() {
    var link = EmulatedLink(.init(loss: 0.1, duplicate: 0.05), seed: 1)
    var same = EmulatedLink(.init(loss: 0.1, duplicate: 0.05), seed: 1)
    let received = run(&link).map(\.number)
    let again = run(&same).map(\.number)
    #expect(abs(Int(link.counts.lost) - 1_000) < 100)
    #expect(received.count - Set(received).count > 370 && received.count - Set(received).count < 530)
    #expect(Set(received).count == 10_000 - Int(link.counts.lost))
    #expect(received == again)
  }

  @Test("duplication does not change which datagrams are lost, or when they arrive")
  func duplicationIsIndependent() {
    let conditions = Impairment.Conditions(loss: 0.1, delay: .milliseconds(5), jitter: .milliseconds(10))
    var (plain, doubling) = (EmulatedLink(conditions, seed: 3), EmulatedLink(conditions, seed: 3))
    doubling.conditions.duplicate = 0.2
    let expected = run(&plain)
    var arrived: Set<Int> = []
    let found = run(&doubling).filter { arrived.insert($0.number).inserted }
    #expect(found.map(\.number) == expected.map(\.number))
    #expect(found.map(\.way) == expected.map(\.way))
  }

  @Test("bursts have the configured rate and mean length")
  func bursts() {
    var link = EmulatedLink(.init(loss: 0.1, burst: 4), seed: 1)
    let came = Set(run(&link, count: 50_000).map(\.number))
    let lost = Double(link.counts.lost)
    #expect(abs(lost / 50_000 - 0.1) < 0.02)
    var bursts = 0
    for number in 1..<50_000 where !came.contains(number) && came.contains(number - 1) { bursts += 1 }
    #expect(abs(lost / Double(bursts) - 4) < 0.5)
  }

  @Test("jitter keeps the order, and reordering does not, within the configured delays")
  func order() {
    var jittery = EmulatedLink(.init(delay: .milliseconds(5), jitter: .milliseconds(10)), seed: 1)
    let inOrder = run(&jittery)
    #expect(inOrder.map(\.number) == Array(0..<10_000))
    #expect(inOrder.allSatisfy { $0.way >= .milliseconds(5) && $0.way < .milliseconds(15) })
    var reordering = EmulatedLink(.init(reorder: 0.1, reorderDelay: .zero ... .milliseconds(20)), seed: 1)
    let mixed = run(&reordering)
    #expect(mixed.map(\.number) != Array(0..<10_000))
    #expect(mixed.map(\.number).sorted() == Array(0..<10_000))
    #expect(mixed.allSatisfy { $0.way <= .milliseconds(20) })
    #expect(mixed.contains { $0.way > .milliseconds(15) })
  }

  @Test("a slow link queues datagrams and drops those that would wait too long")
  func rate() {
    // 8 Mb/s are sent, and 4 Mb/s pass.
    var link = EmulatedLink(.init(rate: 4_000_000), seed: 1)
    let received = run(&link)
    #expect(abs(Int(link.counts.droppedByQueue) - 5_000) < 150)
    expectAll(received) { $0.way <= .milliseconds(203) }
  }

  @Test("conditions can be changed at any time, and datagrams in flight keep theirs")
  func changes() {
    var link = EmulatedLink(.init(delay: .milliseconds(50)), seed: 1)
    let first = link.send(ByteBuffer(integer: UInt32(1)), now: start)
    link.conditions = .init(loss: 1)
    let second = link.send(ByteBuffer(integer: UInt32(2)), now: start + .milliseconds(1))
    link.conditions = .init()
    let third = link.send(ByteBuffer(integer: UInt32(3)), now: start + .milliseconds(2))
    #expect(first && !second && third)
    var numbers: [UInt32] = []
    var times: [Duration] = []
    while let arrival = link.deadline, var datagram = link.receive(now: arrival) {
      numbers.append(datagram.readInteger() ?? 0)
      times.append(arrival - start)
    }
    // A datagram does not overtake another one when the delay falls.
    #expect(numbers == [1, 3])
    #expect(times == [.milliseconds(50), .milliseconds(50)])
  }
}
