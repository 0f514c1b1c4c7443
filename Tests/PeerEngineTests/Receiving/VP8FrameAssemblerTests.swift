import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("VP8 frame assembler")
struct VP8FrameAssemblerTests {
  private let now = MonotonicInstant.now

  /// Returns a packet; the frame's number is its timestamp and picture id.
  private func packet(_ frame: Int, _ bytes: [UInt8], starts: Bool, ends: Bool) -> ReceivedPacket {
    var payload = ByteBuffer()
    VP8PayloadDescriptor(startsPartition: starts, pictureID: .init(UInt16(frame))).write(into: &payload)
    payload.writeBytes(bytes)
    return ReceivedPacket(
      payload: payload, timestamp: UInt32(frame), marker: ends, arrival: now + .milliseconds(frame))
  }

  private let keyframe: [UInt8] = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01]

  @Test("packets from the S bit to the marker bit form one frame")
  func whole() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    #expect(assembler.isGatheringKeyframe)
    assembler.add(packet(1, [1, 2], starts: false, ends: false))
    #expect(assembler.popFrame() == nil)
    assembler.add(packet(1, [3], starts: false, ends: true))
    let frame = try required(assembler.popFrame())
    #expect(Array(frame.payload.readableBytesView) == keyframe + [1, 2, 3])
    #expect(frame.dependency.isKeyframe && frame.dependency.isComplete)
    #expect(frame.size?.description == "640x480")
    #expect(frame.timestamp == 1)
    #expect(frame.arrival == now + .milliseconds(1))
    #expect(!assembler.isGatheringKeyframe)
  }

  @Test("a keyframe whose header is in two packets has its size as well")
  func splitHeader() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, Array(keyframe.prefix(6)), starts: true, ends: false))
    assembler.add(packet(1, Array(keyframe.dropFirst(6)) + [1], starts: false, ends: true))
    let frame = try required(assembler.popFrame())
    #expect(frame.dependency.isKeyframe && frame.dependency.isComplete)
    #expect(frame.header == VideoHeader(isKeyframe: true, size: VideoSize(width: 640, height: 480)))
  }

  private let delta: [UInt8] = [0x11, 0, 0]

  @Test(
    "without marker bits a frame ends when the next begins, and the first frame waits until the second has ended too")
  func noMarkers() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.add(packet(1, [9], starts: false, ends: false))
    assembler.add(packet(2, delta, starts: true, ends: false))
    #expect(assembler.popFrame() == nil)
    // No other keyframe needs to be requested.
    #expect(assembler.isGatheringKeyframe)
    assembler.add(packet(3, delta + [8], starts: true, ends: false))
    let frame = try required(assembler.popFrame())
    #expect(frame.dependency.isComplete && frame.dependency.isKeyframe)
    #expect(frame.payload.readableBytes == 11)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    for number in 4..<20 {
      assembler.add(packet(number, delta, starts: true, ends: false))
      let frame = try required(assembler.popFrame())
      #expect(frame.dependency.isComplete && frame.timestamp == UInt32(number - 1))
      #expect(assembler.popFrame() == nil)
    }
  }

  @Test("from a sender with marker bits, a frame that ends without one is incomplete")
  func abandoned() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: true))
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    assembler.add(packet(2, delta, starts: true, ends: false))
    assembler.add(packet(2, [5], starts: false, ends: false))
    // No sequence number is missing between them.
    assembler.add(packet(3, keyframe, starts: true, ends: true))
    let abandoned = try required(assembler.popFrame())
    #expect(!abandoned.dependency.isComplete)
    #expect(abandoned.timestamp == 2)
    let next = try required(assembler.popFrame())
    #expect(next.dependency.isComplete && next.dependency.isKeyframe && next.dependency.packetsLostBefore == 0)
    #expect(assembler.popFrame() == nil)
  }

  @Test("an unfinished first frame is detected by the marker bit of the second")
  func firstAbandoned() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.add(packet(2, keyframe, starts: true, ends: false))
    #expect(assembler.popFrame() == nil)
    assembler.add(packet(2, [5], starts: false, ends: true))
    let first = try required(assembler.popFrame())
    #expect(!first.dependency.isComplete && !first.dependency.isKeyframe && first.size == nil)
    #expect(try required(assembler.popFrame()).dependency.isKeyframe)
    #expect(assembler.popFrame() == nil)
  }

  @Test("a first frame that may lack its end is not complete")
  func firstInDoubt() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.add(packet(2, delta, starts: true, ends: false))
    assembler.addLost(1)
    assembler.add(packet(3, delta, starts: true, ends: false))
    #expect(try required(assembler.popFrame()).dependency.isComplete == false)
    #expect(try required(assembler.popFrame()).dependency.isComplete == false)
    assembler.finish()
    #expect(try required(assembler.popFrame()).dependency.isComplete == false)
    #expect(assembler.popFrame() == nil)
    assembler.add(packet(4, keyframe, starts: true, ends: false))
    assembler.add(packet(5, delta, starts: true, ends: false))
    assembler.finish()
    #expect(try required(assembler.popFrame()).timestamp == 4)
    #expect(try required(assembler.popFrame()).timestamp == 5)
    #expect(assembler.popFrame() == nil)
  }

  @Test("a sender's use of marker bits is not assumed of the next source")
  func otherSource() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: true))
    assembler.finish()
    for number in 2..<5 {
      assembler.add(packet(number, number == 2 ? keyframe : delta, starts: true, ends: false))
    }
    for number in 1..<4 {
      let frame = try required(assembler.popFrame())
      #expect(frame.dependency.isComplete && frame.timestamp == UInt32(number))
    }
  }

  @Test("a frame with a lost packet in its middle is damaged, and the next one is complete")
  func middle() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.addLost(2)
    #expect(!assembler.isGatheringKeyframe)
    assembler.add(packet(1, [3], starts: false, ends: true))
    assembler.add(packet(2, [0x11, 0, 0], starts: true, ends: true))
    let damaged = try required(assembler.popFrame())
    #expect(!damaged.dependency.isComplete)
    let whole = try required(assembler.popFrame())
    #expect(whole.dependency.isComplete)
    #expect(whole.dependency.packetsLostBefore == 0)
    #expect(assembler.popFrame() == nil)
  }

  @Test("a frame whose first packet was lost is damaged, and the loss is counted before it")
  func first() throws {
    var assembler = VP8FrameAssembler()
    assembler.addLost(1)
    assembler.add(packet(1, [3], starts: false, ends: true))
    let damaged = try required(assembler.popFrame())
    #expect(!damaged.dependency.isComplete)
    #expect(damaged.dependency.packetsLostBefore == 1)
  }

  @Test("a frame whose last packet was lost is damaged, and the loss is counted before the next one")
  func last() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.addLost(1)
    assembler.add(packet(2, [0x11, 0, 0], starts: true, ends: true))
    #expect(try required(assembler.popFrame()).dependency.isComplete == false)
    let next = try required(assembler.popFrame())
    #expect(next.dependency.isComplete)
    #expect(next.dependency.packetsLostBefore == 1)
  }

  @Test("empty payloads do not change a frame")
  func padding() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.add(ReceivedPacket(payload: ByteBuffer(), timestamp: 1, marker: false, arrival: now))
    assembler.add(packet(1, [3], starts: false, ends: true))
    #expect(try required(assembler.popFrame()).payload.readableBytes == 11)
  }

  @Test("a payload without VP8 data and a frame without a header count as damage")
  func broken() throws {
    var assembler = VP8FrameAssembler()
    assembler.add(ReceivedPacket(payload: ByteBuffer(bytes: [0x90]), timestamp: 1, marker: true, arrival: now))
    assembler.add(packet(2, [0x10, 0], starts: true, ends: true))
    let frame = try required(assembler.popFrame())
    #expect(!frame.dependency.isComplete)
    #expect(frame.dependency.packetsLostBefore == 1)
  }

  @Test("an endless frame is cut off at 4 MiB and marked damaged")
  func endless() throws {
    var assembler = VP8FrameAssembler()
    let part = [UInt8](repeating: 0x10, count: 60_000)
    assembler.add(packet(1, keyframe + part, starts: true, ends: false))
    for _ in 0..<100 { assembler.add(packet(1, part, starts: false, ends: false)) }
    assembler.finish()
    let frame = try required(assembler.popFrame())
    #expect(!frame.dependency.isComplete)
    #expect(frame.payload.readableBytes <= FrameLimits.maximumSize)
  }
}
