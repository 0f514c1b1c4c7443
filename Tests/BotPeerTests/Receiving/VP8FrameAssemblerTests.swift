import Media
import NIOCore
import RTP
import Testing

@testable import BotPeer

@Suite("VP8 frame assembler")
struct VP8FrameAssemblerTests {
  private let now = ContinuousClock.now

  /// A packet: the frame's number is timestamp and picture id.
  private func packet(_ frame: Int, _ bytes: [UInt8], starts: Bool, ends: Bool) -> ReceivedPacket {
    var payload = ByteBuffer()
    VP8PayloadDescriptor(startsPartition: starts, pictureID: .init(UInt16(frame))).write(into: &payload)
    payload.writeBytes(bytes)
    return ReceivedPacket(
      payload: payload, timestamp: UInt32(frame), marker: ends, arrival: now + .milliseconds(frame))
  }

  private let keyframe: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01]

  @Test("packets between the S bit and the marker bit are one frame")
  func whole() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    #expect(assembler.isGatheringKeyframe)
    assembler.add(packet(1, [1, 2], starts: false, ends: false))
    #expect(assembler.popFrame() == nil)
    assembler.add(packet(1, [3], starts: false, ends: true))
    let frame = try required(assembler.popFrame())
    #expect(Array(frame.payload.readableBytesView) == keyframe + [1, 2, 3])
    #expect(frame.link.isKeyframe && frame.link.isComplete)
    #expect(frame.size?.description == "640x480")
    #expect(frame.timestamp == 1)
    #expect(frame.arrival == now + .milliseconds(1))
    #expect(!assembler.isGatheringKeyframe)
  }

  @Test("a sender without marker bits ends a frame by beginning the next")
  func noMarkers() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.add(packet(1, [9], starts: false, ends: false))
    assembler.add(packet(2, [0x11, 0, 0], starts: true, ends: false))
    let frame = try required(assembler.popFrame())
    #expect(frame.link.isComplete)
    #expect(frame.payload.readableBytes == 11)
    #expect(assembler.popFrame() == nil)
  }

  @Test("a frame with a lost packet in its middle is damaged once, and the next one is whole")
  func middle() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.addLost(2)
    #expect(!assembler.isGatheringKeyframe)
    assembler.add(packet(1, [3], starts: false, ends: true))
    assembler.add(packet(2, [0x11, 0, 0], starts: true, ends: true))
    let damaged = try required(assembler.popFrame())
    #expect(!damaged.link.isComplete)
    let whole = try required(assembler.popFrame())
    #expect(whole.link.isComplete)
    #expect(whole.link.packetsLostBefore == 0)
    #expect(assembler.popFrame() == nil)
  }

  @Test("a frame whose first packet was lost is damaged, and follows a loss")
  func first() throws {
    var assembler = VP8FrameAssembler()
    assembler.addLost(1)
    assembler.add(packet(1, [3], starts: false, ends: true))
    let damaged = try required(assembler.popFrame())
    #expect(!damaged.link.isComplete)
    #expect(damaged.link.packetsLostBefore == 1)
  }

  @Test("a frame whose last packet was lost is damaged, and the loss counts before the next one")
  func last() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.addLost(1)
    assembler.add(packet(2, [0x11, 0, 0], starts: true, ends: true))
    #expect(try required(assembler.popFrame()).link.isComplete == false)
    let next = try required(assembler.popFrame())
    #expect(next.link.isComplete)
    #expect(next.link.packetsLostBefore == 1)
  }

  @Test("empty payloads leave frames as they are")
  func padding() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.add(ReceivedPacket(payload: ByteBuffer(), timestamp: 1, marker: false, arrival: now))
    assembler.add(packet(1, [3], starts: false, ends: true))
    #expect(try required(assembler.popFrame()).payload.readableBytes == 11)
  }

  @Test("a payload without VP8 data, or a frame without a header, is damage")
  func broken() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(ReceivedPacket(payload: ByteBuffer(bytes: [0x90]), timestamp: 1, marker: true, arrival: now))
    assembler.add(packet(2, [0x10, 0], starts: true, ends: true))
    let frame = try required(assembler.popFrame())
    #expect(!frame.link.isComplete)
    #expect(frame.link.packetsLostBefore == 1)
  }

  @Test("a frame without end is cut off at 4 MiB and damaged")
  func endless() throws {
    var assembler = VP8FrameAssembler()
    let part = [UInt8](repeating: 0x10, count: 60_000)
    assembler.add(packet(1, keyframe + part, starts: true, ends: false))
    for _ in 0..<100 { assembler.add(packet(1, part, starts: false, ends: false)) }
    assembler.finish()
    let frame = try required(assembler.popFrame())
    #expect(!frame.link.isComplete)
    #expect(frame.payload.readableBytes <= VP8FrameAssembler.maximumFrameSize)
  }
}
