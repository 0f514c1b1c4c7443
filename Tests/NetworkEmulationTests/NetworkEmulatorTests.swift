import ICE
import Media
import NIOCore
import PeerEngine
import Testing

@testable import NetworkEmulation

@Suite("The traffic of peers over impaired networks")
struct NetworkEmulatorTests {
  private static let local = TransportAddress(ip: .v4(0x0A00_0001), port: 5000)
  private static let remote = TransportAddress(ip: .v4(0x0A00_0002), port: 5000)

  private let start = MonotonicInstant.now

  private func traffic(_ text: String, seed: UInt64 = 1) throws -> NetworkEmulator {
    NetworkEmulator(try Impairment(parsing: text, seed: seed))
  }

  /// Returns a datagram that begins like an RTP packet and contains a number.
  private func queuedDatagram(
    _ number: Int, of participant: String = "bob", _ direction: NetworkDatagram.Direction = .send
  ) -> NetworkDatagram {
    var datagram = ByteBuffer(bytes: [0x80, 96])
    datagram.writeInteger(number)
    return .init(
      datagram: datagram, local: Self.local, remote: Self.remote, direction: direction,
      participant: ParticipantID(participant))
  }

  private func numbers(_ queuedDatagrams: [NetworkDatagram]) -> [Int] {
    queuedDatagrams.compactMap { $0.datagram.getInteger(at: 2) }
  }

  private func passed(
    _ traffic: inout NetworkEmulator, of participant: String = "bob", _ direction: NetworkDatagram.Direction = .send
  ) -> [Bool] {
    (0..<500).map { traffic.passes(queuedDatagram($0, of: participant, direction), now: start + .milliseconds($0)) }
  }

  @Test("delayed datagrams are released in order, at their time and not before")
  func held() throws {
    var traffic = try traffic("send: delay=50ms")
    let passed = (0..<10).count { traffic.passes(queuedDatagram($0), now: start + .milliseconds($0)) }
    let passedBack = traffic.passes(queuedDatagram(99, .receive), now: start)
    #expect(passed == 0 && passedBack)
    #expect(traffic.deadline == start + .milliseconds(50))
    let early = traffic.next(now: start + .microseconds(49_999)) != nil
    #expect(!early)
    var came: [NetworkDatagram] = []
    while let next = traffic.next(now: start + .milliseconds(54)) { came.append(next) }
    #expect(numbers(came) == [0, 1, 2, 3, 4])
    #expect(traffic.deadline == start + .milliseconds(55))
    let rest = numbers(traffic.takeSent())
    #expect(rest == [5, 6, 7, 8, 9])
    #expect(traffic.deadline == nil)
  }

  @Test("each participant and each direction has random numbers of its own, the same in every run")
  func streams() throws {
    var runs: [[[Bool]]] = []
    for _ in 0..<2 {
      var traffic = try traffic("loss=30%", seed: 11)
      runs.append([
        passed(&traffic, of: "bob"), passed(&traffic, of: "bob", .receive), passed(&traffic, of: "carol"),
        passed(&traffic, of: "carol", .receive),
      ])
    }
    let isSame = runs[0] == runs[1]
    let distinct = Set(runs[0]).count
    #expect(isSame)
    #expect(distinct == 4)
    var other = try traffic("loss=30%", seed: 12)
    let isOther = passed(&other) != runs[0][0]
    #expect(isOther)
  }

  @Test("an impairment of one direction does not affect the other")
  func directions() throws {
    var traffic = try traffic("receive: loss=100%")
    let sent = passed(&traffic).count { $0 }
    let received = passed(&traffic, of: "bob", .receive).count { $0 }
    #expect(sent == 500 && received == 0)
    let statistics = traffic.statistics(of: ParticipantID("bob"))
    #expect(statistics?.sent.total.lost == 0)
    #expect(statistics?.received.total.lost == 500)
  }

  @Test("a flood over a slow path is queued up to a limit, and datagrams beyond it are dropped and counted")
  func bounded() throws {
    var traffic = try traffic("delay=10s")
    for number in 0..<20_000 { _ = traffic.passes(queuedDatagram(number), now: start + .microseconds(number)) }
    let total = traffic.statistics(of: ParticipantID("bob"))?.sent.total
    #expect(total?.passed == UInt64(NetworkEmulator.capacity))
    #expect(total?.droppedByQueue == 20_000 - UInt64(NetworkEmulator.capacity))
    let held = traffic.takeSent().count
    #expect(held == NetworkEmulator.capacity)
  }

  @Test("the state of a participant who left is discarded after the last queued datagram was released")
  func ended() throws {
    var traffic = try traffic("delay=50ms")
    _ = traffic.passes(queuedDatagram(1), now: start)
    traffic.ended(ParticipantID("bob"))
    #expect(traffic.statistics(of: ParticipantID("bob")) != nil)
    let last = numbers([traffic.next(now: start + .milliseconds(50))].compactMap(\.self))
    #expect(last == [1])
    #expect(traffic.statistics(of: ParticipantID("bob")) == nil)
    _ = traffic.passes(queuedDatagram(2), now: start)
    #expect(traffic.statistics(of: ParticipantID("bob"))?.sent.total.datagrams == 1)
  }

  @Test("reordered datagrams are overtaken, and each is delivered once")
  func reordered() throws {
    var traffic = try traffic("delay=100ms,reorder=10%", seed: 5)
    var came: [NetworkDatagram] = []
    for number in 0..<2_000 {
      let now = start + .milliseconds(number)
      while let next = traffic.next(now: now) { came.append(next) }
      if traffic.passes(queuedDatagram(number), now: now) { came.append(queuedDatagram(number)) }
    }
    came += traffic.takeSent()
    let order = numbers(came)
    let isComplete = order.sorted() == Array(0..<2_000)
    var highest = -1
    var overtaken: UInt64 = 0
    for number in order {
      if number < highest { overtaken += 1 }
      highest = max(highest, number)
    }
    #expect(isComplete)
    #expect(overtaken > 150)
  }
}
