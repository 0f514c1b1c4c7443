import Media
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("NACK generator")
struct NackGeneratorTests {
  private let start = MonotonicInstant.now
  private let roundTrip: RoundTripTime = {
    var time = RoundTripTime()
    for _ in 0..<50 { time.measured(.milliseconds(50)) }
    return time
  }()

  private func at(_ milliseconds: Int) -> MonotonicInstant { start + .milliseconds(milliseconds) }

  @Test("a lost packet is requested after 20 ms and not before")
  func first() {
    var nack = NackGenerator()
    _ = nack.arrived(1, now: at(0))
    #expect(nack.arrived(3, now: at(10)) == .newest)
    #expect(nack.isMissing(2))
    #expect(nack.deadline == at(30))
    #expect(nack.poll(roundTrip: roundTrip, now: at(29)) == [])
    #expect(nack.poll(roundTrip: roundTrip, now: at(30)) == [2])
    #expect(nack.poll(roundTrip: roundTrip, now: at(31)) == [])
  }

  @Test("a packet that is only late is never requested")
  func reordered() {
    var nack = NackGenerator()
    _ = nack.arrived(1, now: at(0))
    _ = nack.arrived(3, now: at(10))
    #expect(nack.arrived(2, now: at(25)) == .filled(requests: 0, sinceRequest: nil, sinceMissed: .milliseconds(15)))
    #expect(nack.deadline == nil)
    #expect(nack.poll(roundTrip: roundTrip, now: at(100)) == [])
    #expect(nack.arrived(2, now: at(26)) == .known)
  }

  @Test("a packet is requested again each round trip, more slowly after six requests, and given up after three seconds")
  func packetTimeout() {
    var nack = NackGenerator()
    _ = nack.arrived(1, now: at(0))
    _ = nack.arrived(3, now: at(0))
    var times: [Int] = []
    for millisecond in 0...4_000 where !nack.poll(roundTrip: roundTrip, now: at(millisecond)).isEmpty {
      times.append(millisecond)
    }
    #expect(times.first == 20)
    let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(pauses.prefix(6).allSatisfy { (58...64).contains($0) })
    #expect(zip(pauses.dropFirst(6), pauses.dropFirst(7)).allSatisfy { $1 >= $0 })
    #expect((25...32).contains(times.count))
    #expect(pauses.allSatisfy { $0 <= 124 })
    #expect(times.allSatisfy { $0 < 3_000 })
    #expect(!nack.isMissing(2))
    #expect(nack.deadline == nil)
    #expect(nack.requested == UInt64(times.count))
  }

  @Test("with a round-trip time of one second, the timeout allows three requests")
  func longRoundTrip() {
    var slow = RoundTripTime()
    for _ in 0..<50 { slow.measured(.seconds(1)) }
    var configuration = NackGenerator.Configuration()
    configuration.packetTimeout = .seconds(1)
    let nack = NackGenerator(configuration: configuration)
    #expect(nack.packetTimeout(roundTrip: slow) == .seconds(3))
    #expect(nack.packetTimeout(roundTrip: roundTrip) == .seconds(1))
  }

  @Test("packets that fall due within three milliseconds are requested together")
  func together() {
    var nack = NackGenerator()
    _ = nack.arrived(1, now: at(0))
    _ = nack.arrived(3, now: at(0))
    _ = nack.arrived(5, now: at(2))
    _ = nack.arrived(7, now: at(9))
    #expect(nack.poll(roundTrip: roundTrip, now: at(20)) == [2, 4])
    #expect(nack.poll(roundTrip: roundTrip, now: at(29)) == [6])
  }

  @Test("without NACK support, packets are waited for but never requested")
  func silent() {
    var configuration = NackGenerator.Configuration()
    configuration.supportsNack = false
    configuration.packetTimeout = .milliseconds(400)
    var nack = NackGenerator(configuration: configuration)
    _ = nack.arrived(1, now: at(0))
    _ = nack.arrived(3, now: at(0))
    #expect(nack.deadline == at(400))
    #expect(nack.poll(roundTrip: roundTrip, now: at(399)) == [])
    #expect(nack.isMissing(2))
    #expect(nack.poll(roundTrip: roundTrip, now: at(400)) == [])
    #expect(!nack.isMissing(2))
  }

  @Test("a gap of thousands of packets is not requested, and the list stays bounded")
  func bounds() {
    var nack = NackGenerator()
    _ = nack.arrived(0, now: at(0))
    _ = nack.arrived(5_000, now: at(0))
    #expect(nack.count == 0)
    for number in 1...8 { _ = nack.arrived(5_000 + Int64(number) * 900, now: at(number)) }
    #expect(nack.count == 2_000)
  }

  @Test("packets before the first one can be added when it becomes known that they were sent")
  func earlier() {
    var nack = NackGenerator()
    _ = nack.arrived(100, now: at(0))
    nack.expectEarlier(92..<100, now: at(0))
    #expect(nack.poll(roundTrip: roundTrip, now: at(20)) == Array(92..<100))
    #expect(
      nack.arrived(95, now: at(60))
        == .filled(requests: 1, sinceRequest: .milliseconds(40), sinceMissed: .milliseconds(60)))
    nack.expectEarlier(87..<95, now: at(60))
    #expect(nack.count == 12)
    #expect(nack.isMissing(87) && nack.isMissing(94) && nack.isMissing(96) && !nack.isMissing(95))
    nack.giveUp(below: 95)
    #expect(nack.count == 4)
  }

  /// Returns a generator with 300 missing packets of which none was ever received, so that it requests only few at a
  /// time.
  private func starved() -> (nack: NackGenerator, time: Int, last: [Int64]) {
    var nack = NackGenerator()
    _ = nack.arrived(0, now: at(0))
    _ = nack.arrived(301, now: at(0))
    var last: [Int64] = []
    var time = 0
    while time < 1_500 {
      time += 1
      let requests = nack.poll(roundTrip: roundTrip, now: at(time))
      if !requests.isEmpty { last = requests }
    }
    return (nack, time, last)
  }

  @Test("when requests are not answered, only few packets are requested at a time, the oldest first")
  func narrowPath() {
    let (nack, _, last) = starved()
    #expect((1...4).contains(last.count))
    #expect(last.allSatisfy { $0 <= 60 })
    // Requesting all packets each round trip would have been about 6,000 requests.
    #expect(nack.requested < 800)
    #expect(nack.count == 300)
  }

  @Test("as soon as retransmissions arrive, all missing packets are requested within half a second")
  func wideAgain() throws {
    var (nack, time, _) = starved()
    let begin = time
    var due: [Int: [Int64]] = [:]
    var asked: Set<Int64> = []
    while time < begin + 1_400, nack.count > 0 {
      time += 1
      for sequence in due[time] ?? [] { _ = nack.arrived(sequence, now: at(time)) }
      let requests = nack.poll(roundTrip: roundTrip, now: at(time))
      asked.formUnion(requests)
      due[time + 50] = requests
    }
    #expect(nack.count == 0)
    #expect(asked.count == 300)
    print("measured: 300 missing packets arrive within \(time - begin) ms after the bandwidth has risen")
    #expect(time - begin < 600)
  }

  @Test("a path with 30 % loss in both directions is not treated as one of low bandwidth")
  func lossyPath() {
    var generator = SeededGenerator(seed: 4)
    var nack = NackGenerator()
    var due: [Int: [Int64]] = [:]
    var (worst, sequence) = (0, 0 as Int64)
    for time in 0..<20_000 {
      for answer in due.removeValue(forKey: time) ?? [] { _ = nack.arrived(answer, now: at(time)) }
      if time % 10 == 0 {
        sequence += 1
        if Double.random(in: 0..<1, using: &generator) > 0.3 { _ = nack.arrived(sequence, now: at(time)) }
      }
      let requests = nack.poll(roundTrip: roundTrip, now: at(time))
      if Double.random(in: 0..<1, using: &generator) > 0.3 {
        due[time + 50] = requests.filter { _ in Double.random(in: 0..<1, using: &generator) > 0.3 }
      }
      worst = max(worst, nack.count)
    }
    // About 30 packets a second are missing, each for about 120 ms.
    #expect(worst < 40)
  }
}
