import Media
import PeerEngine
import PeerEngineTestSupport
import TestSupport
import Testing

@Suite("A machine without enough CPU time for all received media")
struct OverloadTests {
  private static func load(dropped: Double, busy: Double) -> MachineLoad {
    MachineLoad(
      datagramsRead: UInt64(1_000 * (1 - dropped)), datagramsDropped: UInt64(1_000 * dropped), busy: busy)
  }

  @Test("a single stall suspends no video, because its losses are retransmitted")
  func stall() {
    var control = OverloadController()
    for dropped in [0.5, 0.4, 0, 0, 0, 0.6, 0] { control.update(Self.load(dropped: dropped, busy: 1)) }
    #expect(control.share == 0)
  }

  @Test(
    "the suspended share grows by the dropped share, stays under full load, and ends within 5 s of a lower load")
  func growthAndEnd() {
    var control = OverloadController()
    for _ in 0..<3 { control.update(Self.load(dropped: 0.5, busy: 1)) }
    #expect(control.share == 0.5)
    control.update(Self.load(dropped: 0.1, busy: 1))
    #expect(control.share > 0.5 && control.share < 0.6)
    let share = control.share
    for _ in 0..<20 { control.update(Self.load(dropped: 0, busy: 0.95)) }
    #expect(control.share == share)
    for _ in 0..<10 { control.update(Self.load(dropped: 0, busy: 0.7)) }
    #expect(control.share == 0)
  }

  @Test("a flood of strangers' datagrams suspends no video, and what was suspended before stays suspended")
  func flood() {
    var control = OverloadController()
    var flood = Self.load(dropped: 0.5, busy: 1)
    flood.datagramsUnassigned = flood.datagramsRead * 9 / 10
    for _ in 0..<20 { control.update(flood) }
    #expect(control.share == 0)
    for _ in 0..<3 { control.update(Self.load(dropped: 0.5, busy: 1)) }
    let share = control.share
    #expect(share > 0)
    for _ in 0..<20 { control.update(flood) }
    #expect(control.share == share)
  }

  @Test("at least 5 % of video is received, whatever share is dropped")
  func bounds() {
    var control = OverloadController()
    for _ in 0..<100 { control.update(Self.load(dropped: 1, busy: 1)) }
    #expect(control.share == 0.95)
  }

  @Test("video that was suspended continues with a keyframe and reports the overload, and audio is complete")
  func suspendedVideo() throws {
    let room = MemoryRoom(publishers: 2)
    try room.connect()
    room.run(for: .seconds(2))
    for _ in 0..<3 {
      _ = room.peer.updateOverload(Self.load(dropped: 0.5, busy: 1), now: room.now)
      room.run(for: .milliseconds(500))
    }
    // The third update suspends video.
    let (suspended, senders) = room.peer.updateOverload(Self.load(dropped: 0, busy: 1), now: room.now)
    #expect(suspended == 1 && senders == 2)
    room.run(for: .seconds(2))
    for _ in 0..<10 {
      _ = room.peer.updateOverload(Self.load(dropped: 0, busy: 0.3), now: room.now)
      room.run(for: .milliseconds(500))
    }
    let gaps = room.publishers.map { $0.frames.compactMap(\.gap) }
    #expect(gaps.count { !$0.isEmpty } == 1)
    let gap = try #require(gaps.flatMap(\.self).first)
    #expect(gap.reason == .overloaded && gap.packetsLost > 50, "\(gap)")
    for publisher in room.publishers {
      let resumed = publisher.frames.filter { $0.codec == .vp8 && $0.gap != nil }
      #expect(resumed.count { !$0.isKeyframe } == 0)
      // All audio that was sent has arrived.
      let sent = publisher.source?.sent.payloads(.opus) ?? []
      let came = publisher.frames.payloads(.opus)
      #expect(came.count >= sent.count - 3)
      expectSame(came, Array(sent.prefix(came.count)))
      let last = try #require(publisher.frames.last { $0.codec == .vp8 })
      #expect(room.now - last.arrived < .milliseconds(200))
    }
    #expect(room.peer.statistics.count { $0.packetsDiscarded > 50 } == 1)
    for statistics in room.peer.statistics {
      let video = try #require(statistics.received[.video])
      #expect(video.packetsReceived + video.packetsLost + video.packetsPadding == video.packetsExpected)
      // Discarded packets are not reported to the sender as lost.
      #expect(video.packetsLost <= statistics.packetsDiscarded)
    }
  }

  @Test("the video of an only sender is received, whatever share is dropped")
  func onlyOne() throws {
    let pair = DemultiplexerPair { _ in }
    try pair.connect()
    pair.play()
    pair.run(for: .seconds(1))
    for _ in 0..<10 {
      _ = pair.bob.demultiplexer.updateOverload(Self.load(dropped: 0.9, busy: 1), now: pair.now)
      pair.run(for: .milliseconds(500))
    }
    #expect(pair.bob.statistics?.packetsDiscarded == 0)
    let last = try #require(pair.bob.frames.last { $0.frame.codec == .vp8 })
    #expect(pair.now - last.frame.arrived < .milliseconds(200))
  }

  @Test("three of four senders are suspended in turns, and SRTP continues after tens of thousands of packets")
  func longTime() throws {
    let room = MemoryRoom(publishers: 4)
    try room.connect()
    room.run(for: .seconds(1))
    for _ in 0..<20 { _ = room.peer.updateOverload(Self.load(dropped: 0.9, busy: 1), now: room.now) }
    for _ in 0..<200 {
      _ = room.peer.updateOverload(Self.load(dropped: 0, busy: 0.95), now: room.now)
      room.run(for: .milliseconds(500))
    }
    let discarded = room.peer.statistics.map(\.packetsDiscarded)
    let (least, most) = try (#require(discarded.min()), #require(discarded.max()))
    print("measured: video packets discarded, three of four senders at a time: \(discarded)")
    #expect(least > 1_000 && Double(most) < 1.3 * Double(least))
    for publisher in room.publishers {
      let resumed = publisher.frames.filter { $0.codec == .vp8 && $0.gap != nil }
      #expect(resumed.count > 4 && resumed.count { !$0.isKeyframe } == 0)
    }
    #expect(room.peer.statistics.count { $0.datagramsRefused > 0 } == 0)
  }

  @Test("the video of several senders is suspended in turns: each loses about as much as the others, and no audio")
  func turns() throws {
    let room = MemoryRoom(publishers: 6)
    try room.connect()
    room.run(for: .seconds(1))
    for _ in 0..<3 {
      _ = room.peer.updateOverload(Self.load(dropped: 0.5, busy: 1), now: room.now)
      room.run(for: .milliseconds(500))
    }
    for _ in 0..<64 {
      let (suspended, senders) = room.peer.updateOverload(Self.load(dropped: 0, busy: 0.95), now: room.now)
      #expect(suspended == 3 && senders == 6)
      room.run(for: .milliseconds(500))
    }
    let discarded = room.peer.statistics.map(\.packetsDiscarded)
    let (least, most) = try (#require(discarded.min()), #require(discarded.max()))
    print("measured: video packets discarded: \(discarded)")
    #expect(least > 100 && Double(most) < 1.5 * Double(least))
    for publisher in room.publishers {
      let sent = publisher.source?.sent.payloads(.opus) ?? []
      let came = publisher.frames.payloads(.opus)
      #expect(came.count >= sent.count - 3)
      expectSame(came, Array(sent.prefix(came.count)))
      // The frames are decodable: the first frame after a gap is a keyframe.
      let video = publisher.frames.filter { $0.codec == .vp8 }
      #expect(video.count { $0.gap != nil && !$0.isKeyframe } == 0)
      #expect(video.count > 300)
    }
  }
}
