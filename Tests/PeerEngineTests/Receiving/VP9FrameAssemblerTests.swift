import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import Testing

@Suite("VP9 frame assembler")
struct VP9FrameAssemblerTests {
  /// A keyframe of 160x90 up to its size, an inter frame of its size, and one of 320x180.
  private let keyframe: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x20, 0x09, 0xF0, 0x05, 0x90, 0x00]
  private let delta: [UInt8] = [0x87, 0x01, 0x00, 0x08, 0x00, 0x00]
  private let larger: [UInt8] = [0x87, 0x02, 0x00, 0x00, 0x02, 0x7E, 0x01, 0x66, 0x00]

  private let now = MonotonicInstant.now

  /// Returns a packet; the picture's number is its timestamp and picture id.
  private func packet(
    _ picture: Int, _ bytes: [UInt8], layer: UInt8? = nil, isInterLayerPredicted: Bool? = nil, starts: Bool, ends: Bool,
    marker: Bool? = nil
  ) -> ReceivedPacket {
    let descriptor = VP9PayloadDescriptor(
      pictureID: .init(UInt16(picture)), isInterPicturePredicted: true,
      layers: layer.map { .init(spatial: $0, isInterLayerPredicted: isInterLayerPredicted ?? ($0 > 0)) },
      startsFrame: starts, endsFrame: ends)
    var payload = ByteBuffer()
    descriptor.write(into: &payload)
    payload.writeBytes(bytes)
    return ReceivedPacket(
      payload: payload, timestamp: UInt32(picture), marker: marker ?? ends, arrival: now + .milliseconds(picture))
  }

  /// Returns the pictures that end with some packets; nil stands for a lost one.
  private func pictures(_ packets: [ReceivedPacket?]) -> [VP9FrameAssembler.Frame] {
    var assembler = VP9FrameAssembler()
    var frames: [VP9FrameAssembler.Frame] = []
    for packet in packets {
      if let packet { assembler.add(packet) } else { assembler.addLost(1) }
      while let frame = assembler.popFrame() { frames.append(frame) }
    }
    return frames
  }

  @Test("packets from the B bit to the marker bit form one picture")
  func whole() throws {
    var assembler = VP9FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    #expect(assembler.isGatheringKeyframe)
    assembler.add(packet(1, [1, 2], starts: false, ends: false))
    #expect(assembler.popFrame() == nil)
    assembler.add(packet(1, [3], starts: false, ends: true))
    let frame = try required(assembler.popFrame())
    #expect(Array(frame.payload.readableBytesView) == keyframe + [1, 2, 3])
    #expect(frame.dependency.isKeyframe && frame.dependency.isComplete && frame.header?.isShown == true)
    #expect(frame.size?.description == "160x90")
    #expect(frame.timestamp == 1)
    #expect(frame.arrival == now + .milliseconds(1))
    #expect(!assembler.isGatheringKeyframe)
  }

  @Test("the layer frames of a picture become a superframe with an index, of the size of the highest")
  func layers() throws {
    let frames = pictures([
      packet(1, keyframe, layer: 0, starts: true, ends: true, marker: false),
      packet(1, larger, layer: 1, starts: true, ends: false), packet(1, [7, 8], layer: 1, starts: false, ends: true),
      packet(2, delta, layer: 0, starts: true, ends: true, marker: false),
      packet(2, delta, layer: 1, starts: true, ends: true),
    ])
    #expect(frames.map(\.dependency.isComplete) == [true, true])
    #expect(frames.map(\.dependency.isKeyframe) == [true, false])
    #expect(frames.map(\.size) == [VideoSize(width: 320, height: 180), nil])
    let superframe = try VP9Superframe(parsing: frames[0].payload)
    #expect(superframe.frames.map { Array($0.readableBytesView) } == [keyframe, larger + [7, 8]])
    #expect(try VP9Superframe(parsing: frames[1].payload).frames.count == 2)
  }

  @Test("a picture is damaged if any packet of any layer is lost, and the next one is not")
  func lostLayers() {
    let layers = [
      packet(1, delta, layer: 0, starts: true, ends: true, marker: false),
      packet(1, delta, layer: 1, starts: true, ends: true, marker: false),
      packet(1, delta, layer: 2, starts: true, ends: false), packet(1, [9], layer: 2, starts: false, ends: true),
    ]
    let next = packet(2, delta, layer: 0, starts: true, ends: true)
    for lost in layers.indices {
      var packets: [ReceivedPacket?] = [packet(0, keyframe, starts: true, ends: true)] + layers + [next]
      packets[lost + 1] = nil
      let frames = pictures(packets)
      #expect(frames.map(\.dependency.isComplete) == [true, false, true], "\(lost)")
      #expect(frames.map(\.timestamp) == [0, 1, 2], "\(lost)")
      #expect(frames[2].dependency.packetsLostBefore == (lost == 3 ? 1 : 0), "\(lost)")
    }
  }

  @Test("a layer that depends on one that was not sent is damaged, and one that does not is complete")
  func leftOutLayers() {
    func picture(_ layer: UInt8, _ isPredicted: Bool) -> [ReceivedPacket?] {
      [packet(1, delta, layer: layer, isInterLayerPredicted: isPredicted, starts: true, ends: true)]
    }
    #expect(pictures(picture(2, true)).map(\.dependency.isComplete) == [false])
    #expect(pictures(picture(2, false)).map(\.dependency.isComplete) == [true])
    // After a loss, the lower layers may be missing.
    #expect(pictures([nil] + picture(2, false)).map(\.dependency.isComplete) == [false])
    let lowest = packet(1, delta, layer: 0, starts: true, ends: true, marker: false)
    #expect(pictures([lowest] + picture(2, true)).map(\.dependency.isComplete) == [false])
    #expect(pictures([lowest] + picture(2, false)).map(\.dependency.isComplete) == [true])
  }

  @Test("a picture ends when another timestamp, another picture id or a lower layer begins")
  func boundaries() {
    func first() -> ReceivedPacket {
      packet(1, delta, layer: 1, isInterLayerPredicted: false, starts: true, ends: true, marker: false)
    }
    var sameTime = packet(2, delta, layer: 2, isInterLayerPredicted: false, starts: true, ends: true)
    sameTime.timestamp = 1
    let sameLayer = packet(1, delta, layer: 1, isInterLayerPredicted: false, starts: true, ends: true)
    for second in [
      packet(2, delta, layer: 2, isInterLayerPredicted: false, starts: true, ends: true), sameTime, sameLayer,
    ] {
      #expect(pictures([first(), second]).count == 2)
    }
    #expect(pictures([first(), packet(1, delta, layer: 2, starts: true, ends: true)]).count == 1)
  }

  @Test("a continuation of another layer is damage")
  func mixedLayers() {
    let frames = pictures([
      packet(1, delta, layer: 0, starts: true, ends: false), packet(1, delta, layer: 1, starts: false, ends: true),
    ])
    #expect(frames.map(\.dependency.isComplete) == [false])
  }

  @Test("frames without layer indices in one picture become a superframe")
  func hiddenFrame() throws {
    let frames = pictures([
      packet(1, keyframe, starts: true, ends: true, marker: false), packet(1, delta, starts: true, ends: true),
    ])
    #expect(frames.map(\.dependency.isComplete) == [true])
    #expect(try VP9Superframe(parsing: try #require(frames.first).payload).frames.count == 2)
  }

  @Test("a layer frame that is a superframe is split, and more than eight frames are damage")
  func nested() throws {
    let hidden = try #require(VP9Superframe(frames: [ByteBuffer(bytes: delta), ByteBuffer(bytes: delta)]))
    var unit = ByteBuffer()
    hidden.write(into: &unit)
    let bytes = Array(unit.readableBytesView)
    func picture(_ count: UInt8) -> [ReceivedPacket?] {
      (0..<count).map { packet(1, bytes, layer: $0, starts: true, ends: true, marker: $0 == count - 1) }
    }
    let frame = try #require(pictures(picture(4)).first)
    #expect(frame.dependency.isComplete)
    #expect(try VP9Superframe(parsing: frame.payload).frames.count == 8)
    #expect(pictures(picture(5)).map(\.dependency.isComplete) == [false])
  }

  @Test("without marker bits a picture ends when the next begins")
  func noMarkers() throws {
    var assembler = VP9FrameAssembler()
    assembler.add(packet(1, keyframe, layer: 0, starts: true, ends: true, marker: false))
    assembler.add(packet(1, larger, layer: 1, starts: true, ends: true, marker: false))
    #expect(assembler.popFrame() == nil)
    #expect(assembler.isGatheringKeyframe)
    assembler.add(packet(2, delta, layer: 0, starts: true, ends: true, marker: false))
    let frame = try required(assembler.popFrame())
    #expect(frame.dependency.isComplete && frame.dependency.isKeyframe && frame.size?.width == 320)
    for number in 3..<20 {
      assembler.add(packet(number, delta, starts: true, ends: true, marker: false))
      let frame = try required(assembler.popFrame())
      #expect(frame.dependency.isComplete && frame.timestamp == UInt32(number - 1))
      #expect(assembler.popFrame() == nil)
    }
  }

  @Test("pictures whose highest layer, the one with the marker, is dropped by the encoder or a server are complete")
  func highestLayerDropped() {
    var packets: [ReceivedPacket?] = []
    for number in 0..<12 {
      let hasTwoLayers = number.isMultiple(of: 3)
      packets.append(
        packet(
          number, number == 0 ? keyframe : delta, layer: 0, starts: true, ends: true,
          marker: !hasTwoLayers && number == 1))
      if hasTwoLayers { packets.append(packet(number, larger, layer: 1, starts: true, ends: true)) }
    }
    packets.append(packet(12, delta, layer: 0, starts: true, ends: true))
    let frames = pictures(packets)
    #expect(frames.map(\.timestamp) == (0...12).map { UInt32($0) })
    #expect(frames.allSatisfy { $0.dependency.isComplete && $0.dependency.packetsLostBefore == 0 })
  }

  @Test("a picture that ends without the marker and without the E bit is incomplete", arguments: [true, false])
  func abandoned(hasMarkers: Bool) {
    let frames = pictures([
      packet(1, keyframe, starts: true, ends: true, marker: hasMarkers), packet(2, delta, starts: true, ends: false),
      packet(3, keyframe, starts: true, ends: true),
    ])
    #expect(frames.map(\.dependency.isComplete) == [true, false, true])
    #expect(frames.map(\.dependency.packetsLostBefore) == [0, 0, 0])
  }

  @Test("a picture without a header, with a wrong index or with a size above 4096 is damaged")
  func broken() {
    var huge = larger
    huge.replaceSubrange(4..<6, with: [0x7F, 0xFF])
    for bytes in [[0x10], delta + [0xC1, 0, 0, 0xC1], huge, [0x82, 0x49]] {
      let frames = pictures([packet(1, bytes, starts: true, ends: true)])
      #expect(frames.map(\.dependency.isComplete) == [false], "\(bytes)")
      #expect(frames.allSatisfy { !$0.dependency.isKeyframe && $0.size == nil })
    }
    #expect(
      VP9FrameAssembler.keyframeSize(in: ByteBuffer(bytes: [0x82, 0x49, 0x83, 0x42, 0x21, 0, 0, 5, 0x90, 0])) == nil)
  }

  @Test("an unfinished picture is discarded only if nothing is missing")
  func unfinished() throws {
    var assembler = VP9FrameAssembler()
    assembler.add(packet(1, keyframe, starts: true, ends: false))
    assembler.discardUnfinished()
    assembler.finish()
    #expect(assembler.popFrame() == nil)
    assembler.add(packet(2, keyframe, starts: true, ends: false))
    assembler.addLost(1)
    assembler.discardUnfinished()
    assembler.finish()
    #expect(try required(assembler.popFrame()).dependency.isComplete == false)
  }

  @Test("a last picture without the marker is whole if its frame ended", arguments: [true, false])
  func lastPicture(isLeaving: Bool) throws {
    var assembler = VP9FrameAssembler()
    assembler.add(packet(1, keyframe, layer: 0, starts: true, ends: true, marker: false))
    if isLeaving { assembler.discardUnfinished() }
    assembler.finish()
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    #expect(assembler.popFrame() == nil)
  }

  @Test("an endless picture is cut off at 4 MiB and marked damaged")
  func endless() throws {
    var assembler = VP9FrameAssembler()
    let part = [UInt8](repeating: 0x10, count: 60_000)
    assembler.add(packet(1, keyframe + part, starts: true, ends: false))
    for _ in 0..<100 { assembler.add(packet(1, part, starts: true, ends: false)) }
    assembler.finish()
    let frame = try required(assembler.popFrame())
    #expect(!frame.dependency.isComplete)
    #expect(frame.payload.readableBytes <= FrameLimits.maximumSize)
  }
}
