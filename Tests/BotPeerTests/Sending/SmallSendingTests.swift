import Media
import NIOCore
import RTP
import TestSupport
import Testing

@testable import BotPeer

@Suite("Pacer")
struct PacerTests {
  private let start = ContinuousClock.now

  private func entry(_ priority: Pacer.Priority, number: UInt16 = 0, media: Int = 0) -> Pacer.Entry {
    Pacer.Entry(
      packet: RTPPacket(
        payloadType: 96, sequenceNumber: number, timestamp: 0, ssrc: 1, payload: ByteBuffer(repeating: 0, count: 1_188)),
      priority: priority, media: media)
  }

  @Test("a burst of 100 packets leaves within the drain time and no faster")
  func burst() {
    var pacer = Pacer()
    for number in 0..<100 { pacer.add(entry(.picture, number: UInt16(number)), now: start) }
    var now = start
    var times: [Duration] = []
    while let due = pacer.deadline {
      now = max(now, due)
      while let next = pacer.next(now: now) {
        #expect(Int(next.packet.sequenceNumber) == times.count)
        times.append(now - start)
      }
    }
    #expect(times.count == 100)
    #expect(times.count { $0 == .zero } == 3)
    #expect(times[99] > .milliseconds(150) && times[99] < .milliseconds(260))
    #expect(pacer.isEmpty)
  }

  @Test("sound goes first, then what is sent again, then pictures")
  func priorities() {
    var pacer = Pacer()
    for priority in [Pacer.Priority.picture, .retransmission, .sound] { pacer.add(entry(priority), now: start) }
    #expect([pacer.next(now: start), pacer.next(now: start), pacer.next(now: start)].map { $0?.priority } == [.sound, .retransmission, .picture])
  }

  @Test("what waits of a section can be thrown away")
  func remove() {
    var pacer = Pacer()
    for number in 0..<10 { pacer.add(entry(.picture, number: UInt16(number), media: number % 2), now: start) }
    pacer.removeAll(media: 1)
    var left: [UInt16] = []
    var now = start
    while let due = pacer.deadline {
      now = max(now, due)
      if let next = pacer.next(now: now) { left.append(next.packet.sequenceNumber) }
    }
    #expect(left == [0, 2, 4, 6, 8])
    #expect(pacer.delay == .zero)
  }
}

@Suite("Group of pictures")
struct GroupOfPicturesCacheTests {
  private func frame(_ number: Int, isKeyframe: Bool, bytes: Int = 100) -> EncodedFrame {
    var generator = SeededGenerator(seed: 1)
    return SyntheticSource.vp8(
      number: number, isKeyframe: isKeyframe, bytes: bytes, time: Int64(number), arrival: .now, using: &generator)
  }

  @Test("it holds the frames since the last keyframe, and nothing before the first")
  func group() {
    var cache = GroupOfPicturesCache()
    cache.add(frame(0, isKeyframe: false))
    #expect(cache.isEmpty)
    for number in 1...5 { cache.add(frame(number, isKeyframe: number == 1 || number == 4)) }
    #expect(cache.frames.compactMap(SyntheticSource.number) == [4, 5])
  }

  @Test("a group that has become too long to be sent again is dropped until the next keyframe")
  func tooLong() {
    var cache = GroupOfPicturesCache()
    for number in 0...GroupOfPicturesCache.maximumFrames { cache.add(frame(number, isKeyframe: number == 0)) }
    #expect(cache.isEmpty)
    cache.add(frame(2_000, isKeyframe: false))
    #expect(cache.isEmpty)
    cache.add(frame(2_001, isKeyframe: true))
    #expect(cache.frames.count == 1)
    cache.add(frame(2_002, isKeyframe: false, bytes: GroupOfPicturesCache.maximumBytes))
    #expect(cache.isEmpty)
  }
}

@Suite("Send clock")
struct SendClockTests {
  private let start = ContinuousClock.now

  @Test("both tracks lie on one line, and keep their own distances exactly")
  func oneLine() {
    var clock = SendClock(epoch: start)
    let due = start + .milliseconds(1_234)
    let video = clock.ticks(of: MediaTime(ticks: 0, rate: 90_000), rate: 90_000, due: due)
    #expect(video == 111_060)
    #expect(clock.ticks(of: MediaTime(ticks: 960, rate: 48_000), rate: 48_000, due: due + .milliseconds(27)) == 60_192)
    #expect(clock.ticks(of: MediaTime(ticks: 3_003, rate: 90_000), rate: 90_000, due: due + .milliseconds(31)) == video + 3_003)
    #expect(clock.ticks(at: due, rate: 90_000) == video)
  }

  @Test("a file's milliseconds become ticks")
  func otherRate() {
    var clock = SendClock(epoch: start)
    #expect(clock.ticks(of: MediaTime(ticks: 0, rate: 1_000), rate: 90_000, due: start) == 0)
    #expect(clock.ticks(of: MediaTime(ticks: 33, rate: 1_000), rate: 90_000, due: start) == 2_970)
  }

  @Test("a source that begins anew goes on at the present")
  func anew() {
    var clock = SendClock(epoch: start)
    _ = clock.ticks(of: MediaTime(ticks: 90_000 * 60, rate: 90_000), rate: 90_000, due: start + .seconds(1))
    let again = clock.ticks(of: MediaTime(ticks: 0, rate: 90_000), rate: 90_000, due: start + .seconds(2))
    #expect(again == 180_000)
  }
}

@Suite("Transport sequence")
struct TransportSequenceTests {
  @Test("numbers go up by one and wrap")
  func wrap() {
    var sequence = TransportSequence(first: 65_534)
    #expect((0..<4).map { _ in sequence.take() } == [65_534, 65_535, 0, 1])
  }
}
