import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("H.265 frame assembler")
struct H265FrameAssemblerTests {
  private typealias Maker = H265FrameMaker

  @Test("the NAL units up to the marker form one frame, fragments joined", arguments: [30, 1_200])
  func whole(size: Int) throws {
    var assembler = H265FrameAssembler()
    assembler.add(Maker.keyframe(size: 300), 1, size: size)
    let keyframe = try required(assembler.popFrame())
    #expect(keyframe.payload == Maker.frame(Maker.keyframe(size: 300)))
    #expect(keyframe.dependency.isKeyframe && keyframe.dependency.isComplete)
    #expect(keyframe.size?.description == "320x180")
    #expect(keyframe.timestamp == 1)
    #expect(keyframe.order == PictureOrder(count: 0, beginsSequence: true, reorderedFrames: 2))
    assembler.add([Maker.slice(4, size: 100), Maker.slice(4, isFirst: false, size: 100)], 2, size: size)
    let next = try required(assembler.popFrame())
    #expect(next.payload == Maker.frame([Maker.slice(4, size: 100), Maker.slice(4, isFirst: false, size: 100)]))
    #expect(!next.dependency.isKeyframe && next.dependency.isComplete && next.size == nil)
    #expect(next.order == PictureOrder(count: 4, beginsSequence: false, reorderedFrames: 2))
    #expect(assembler.popFrame() == nil)
  }

  @Test("delimiters, filler, reserved units and upper layers are left out, and everything else stays")
  func leftOut() throws {
    var assembler = H265FrameAssembler()
    for unit in [Maker.delimiter, Maker.video, Maker.sequence, Maker.picture, Maker.information] {
      assembler.add(unit, 1)
    }
    for unit in ["4c01ffff80", "5201ff", "16018000", "4209010160"] {
      assembler.add(H264FrameMaker.bytes(unit), 1)
    }
    assembler.add(Maker.slice(0, type: 19), 1)
    assembler.add(Maker.slice(0, type: 19, layerID: 1), 1)
    let end = H264FrameMaker.bytes("4801")
    assembler.add(end, 1, marker: true)
    let frame = try required(assembler.popFrame())
    #expect(frame.payload == Maker.frame(Maker.sets + [Maker.information, Maker.slice(0, type: 19), end]))
    #expect(frame.dependency.isComplete && frame.dependency.endsSequence)
  }

  @Test("a keyframe without parameter sets gets those that came before or that the description has")
  func inserted() throws {
    let slice = Maker.slice(20, type: 21)
    let expected = Maker.frame(Maker.sets + [slice])
    var described = H265FrameAssembler(parameterSets: [Maker.picture, Maker.sequence, Maker.video])
    var earlier = H265FrameAssembler()
    earlier.add(Maker.keyframe(), 1)
    #expect(earlier.popFrame() != nil)
    for assembler in [described, earlier] {
      var assembler = assembler
      assembler.add(slice, 2, marker: true)
      let frame = try required(assembler.popFrame())
      #expect(frame.payload == expected && frame.dependency.isComplete && frame.dependency.isKeyframe)
      #expect(frame.size?.description == "320x180")
    }
    // A sequence parameter set alone gets the others around it.
    described.add([Maker.otherSequence, slice], 3)
    let other = try required(described.popFrame())
    #expect(other.payload == Maker.frame([Maker.video, Maker.otherSequence, Maker.picture, slice]))
    #expect(other.size?.description == "642x362")
    // Another source has its own.
    earlier.restart()
    earlier.add(slice, 4, marker: true)
    #expect(try !required(earlier.popFrame()).dependency.isComplete)
  }

  @Test("a frame is damaged if its parameter sets are unknown, or its slices are of several types or none is the first")
  func damaged() throws {
    let frames = [
      [Maker.slice(0, type: 19)], [Maker.video, Maker.sequence, Maker.slice(0, type: 19)],
      Maker.sets + [Maker.slice(0, type: 19, picture: 1)],
      Maker.sets + [Maker.slice(0, type: 19), Maker.slice(0, type: 20, isFirst: false)],
      Maker.sets + [Maker.slice(0, type: 19), Maker.slice(0, isFirst: false)],
      Maker.sets + [Maker.slice(0, type: 19, isFirst: false)],
      Maker.sets + [Maker.slice(0, type: 19), Maker.slice(0, type: 19)],
      Maker.sets + [Maker.slice(0, type: 19), Maker.slice(0, type: 19, isFirst: false, picture: 1)],
    ]
    for (index, units) in frames.enumerated() {
      var assembler = H265FrameAssembler()
      assembler.add(units, 1)
      let frame = try required(assembler.popFrame())
      #expect(!frame.dependency.isComplete && !frame.dependency.isKeyframe && frame.size == nil, "\(index)")
    }
  }

  @Test("a keyframe that is wider or higher than is accepted is damaged")
  func tooLarge() throws {
    // 16,888 pixels wide: pic_width_in_luma_samples is an Exp-Golomb code after the ids.
    var assembler = H265FrameAssembler()
    let wide = H264FrameMaker.bytes("42010101600000030090000003000003003ca00041f0007f9f2cacacac980000")
    if let set = try? H265SequenceParameterSet(parsing: wide) { #expect(set.codedSize.width > 0) }
    assembler.add([Maker.video, wide, Maker.picture, Maker.slice(0, type: 19)], 1)
    let frame = try required(assembler.popFrame())
    #expect(!frame.dependency.isComplete)
  }

  @Test("a frame is damaged if any of its packets is missing, wherever")
  func missing() throws {
    let units = [Maker.slice(4, size: 90), Maker.slice(4, isFirst: false, size: 90)]
    for gap in 0..<6 {
      let (_, next) = try H265FrameAssembler.frames(
        without: gap, keyframe: Maker.keyframe(), damaged: units, next: [Maker.slice(8)])
      #expect(next.dependency.packetsLostBefore == (gap == 5 ? 1 : 0), "\(gap)")
    }
  }

  @Test("a packet that cannot be read, or has more parameter sets than are accepted, damages its frame and no other")
  func unreadable() throws {
    var flood = ByteBuffer(bytes: [0x60, 0x01])
    for _ in 0..<33 { flood.writeBytes([0, 3, 0x44, 0x01, 0xC0]) }
    for payload in [H264FrameMaker.bytes("640100"), H264FrameMaker.bytes("6001000500"), flood] {
      var assembler = H265FrameAssembler()
      assembler.add(Maker.keyframe(), 1)
      assembler.add(Maker.slice(4), 2)
      assembler.add(payload, 2, marker: true)
      assembler.add([Maker.slice(8)], 3)
      #expect(try required(assembler.popFrame()).dependency.isComplete)
      #expect(try !required(assembler.popFrame()).dependency.isComplete)
      #expect(try required(assembler.popFrame()).dependency.isComplete)
    }
  }
}
