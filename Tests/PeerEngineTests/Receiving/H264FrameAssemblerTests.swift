import Bitstream
import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("H.264 frame assembler")
struct H264FrameAssemblerTests {
  private typealias Maker = H264FrameMaker

  @Test("the NAL units up to the marker form one frame, fragments joined", arguments: [30, 1_200])
  func whole(size: Int) throws {
    var assembler = H264FrameAssembler()
    assembler.add(Maker.keyframe(size: 300), 1, size: size)
    let keyframe = try required(assembler.popFrame())
    #expect(keyframe.payload == Maker.frame(Maker.keyframe(size: 300)))
    #expect(keyframe.dependency.isKeyframe && keyframe.dependency.isComplete)
    #expect(keyframe.size?.description == "320x180")
    #expect(keyframe.timestamp == 1)
    assembler.add([Maker.slice(1, size: 100)], 2, size: size)
    let next = try required(assembler.popFrame())
    #expect(next.payload == Maker.frame([Maker.slice(1, size: 100)]))
    #expect(!next.dependency.isKeyframe && next.dependency.isComplete && next.dependency.frameNumber == 1)
    #expect(next.size == nil)
    #expect(assembler.popFrame() == nil)
  }

  @Test("delimiters, ends and filler are left out, and everything else stays")
  func leftOut() throws {
    var assembler = H264FrameAssembler()
    for unit in [Maker.delimiter, Maker.sequence, Maker.picture, Maker.information] { assembler.add(unit, 1) }
    for unit in ["0cffff80", "0a", "0b"] { assembler.add(Maker.bytes(unit), 1) }
    let slice = Maker.slice(0, isIDR: true, referenceIDC: 3)
    assembler.add(slice, 1, marker: true)
    #expect(
      try required(assembler.popFrame()).payload
        == Maker.frame([Maker.sequence, Maker.picture, Maker.information, slice]))
  }

  @Test("filler larger than a packet, which encoders of a constant bitrate add, is left out and damages nothing")
  func fragmentedFiller() throws {
    var assembler = H264FrameAssembler()
    for unit in Maker.keyframe() { assembler.add(unit, 1) }
    // A filler NAL unit (12) in three fragments, the last of them with the marker.
    assembler.add(Maker.bytes("1c8cffff"), 1)
    assembler.add(Maker.bytes("1c0cffff"), 1)
    assembler.add(Maker.bytes("1c4cff80"), 1, marker: true)
    // Another one before the slice of its frame.
    assembler.add(Maker.bytes("1c8cffff"), 2)
    assembler.add(Maker.bytes("1c4cff80"), 2)
    assembler.add(Maker.slice(1), 2, marker: true)
    let keyframe = try required(assembler.popFrame())
    #expect(keyframe.dependency.isComplete && keyframe.payload == Maker.frame(Maker.keyframe()))
    let next = try required(assembler.popFrame())
    #expect(next.dependency.isComplete && next.payload == Maker.frame([Maker.slice(1)]))
  }

  @Test("an IDR slice behind one that is none damages the frame: it is neither a keyframe nor another frame")
  func mixedSlices() throws {
    var assembler = H264FrameAssembler()
    assembler.add(Maker.keyframe(), 1)
    assembler.add([Maker.slice(1), Maker.slice(0, isIDR: true, referenceIDC: 3, firstMacroblock: 9)], 2)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    #expect(try !required(assembler.popFrame()).dependency.isComplete)
  }

  @Test("a marker on parameter sets does not end the frame, whether they have its timestamp or one of their own")
  func markersOnParameterSets() throws {
    for timestamp in [1, 0] {
      var assembler = H264FrameAssembler()
      assembler.add(Maker.sequence, timestamp, marker: true)
      assembler.add(Maker.picture, timestamp, marker: true)
      #expect(assembler.isGatheringKeyframe)
      assembler.add(Maker.slice(0, isIDR: true, referenceIDC: 3), 1, marker: true)
      let frame = try required(assembler.popFrame())
      #expect(frame.dependency.isKeyframe && frame.dependency.isComplete)
      #expect(
        frame.payload == Maker.frame([Maker.sequence, Maker.picture, Maker.slice(0, isIDR: true, referenceIDC: 3)]))
      #expect(assembler.popFrame() == nil)
    }
  }

  @Test("without markers a frame ends when the timestamp changes, and the first waits until the second has ended too")
  func noMarkers() throws {
    var assembler = H264FrameAssembler()
    assembler.add(Maker.keyframe(), 1, marks: false)
    assembler.add([Maker.slice(1)], 2, marks: false)
    #expect(assembler.popFrame() == nil)
    #expect(assembler.isGatheringKeyframe)
    for number in 2..<10 { assembler.add([Maker.slice(number)], number + 1, marks: false) }
    for number in 0..<9 {
      let frame = try required(assembler.popFrame())
      #expect(frame.dependency.isComplete && frame.timestamp == UInt32(number + 1))
    }
    #expect(assembler.popFrame() == nil)
  }

  @Test("from a sender with markers, a frame that ends without one is incomplete")
  func abandoned() throws {
    var assembler = H264FrameAssembler()
    assembler.add(Maker.keyframe(), 1)
    assembler.add([Maker.slice(1)], 2, marks: false)
    assembler.add(Maker.keyframe(), 3)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    #expect(try !required(assembler.popFrame()).dependency.isComplete)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
  }

  @Test("a keyframe without parameter sets gets those that came before or that the description has")
  func inserted() throws {
    let slice = Maker.slice(0, isIDR: true, referenceIDC: 3)
    let expected = Maker.frame([Maker.sequence, Maker.picture, slice])
    var described = H264FrameAssembler(parameterSets: [Maker.picture, Maker.sequence])
    var earlier = H264FrameAssembler()
    earlier.add(Maker.keyframe(), 1)
    #expect(earlier.popFrame() != nil)
    for assembler in [described, earlier] {
      var assembler = assembler
      assembler.add(slice, 2, marker: true)
      let frame = try required(assembler.popFrame())
      #expect(frame.payload == expected && frame.dependency.isComplete && frame.dependency.isKeyframe)
      #expect(frame.size?.description == "320x180")
    }
    // A picture parameter set alone gets the sequence parameter set in front of it.
    described.add(Maker.picture, 3)
    described.add(slice, 3, marker: true)
    #expect(try required(described.popFrame()).payload == expected)
    // Those in the stream count more than those of the description, also if that changes.
    described.add(Maker.otherSequence, 4)
    described.add(slice, 4, marker: true)
    #expect(try required(described.popFrame()).size?.description == "642x362")
    described.setDescribed([Maker.sequence])
    described.add(slice, 5, marker: true)
    #expect(try required(described.popFrame()).size?.description == "642x362")
    // Another source has its own.
    earlier.restart()
    earlier.add(slice, 6, marker: true)
    #expect(try !required(earlier.popFrame()).dependency.isComplete)
  }

  @Test(
    "parameter sets after the slices hold from the next frame on, and replaced ones do not stay behind inserted ones")
  func order() throws {
    let slice = Maker.slice(0, isIDR: true, referenceIDC: 3)
    var assembler = H264FrameAssembler()
    assembler.add([Maker.sequence, Maker.picture, slice, Maker.otherSequence], 1)
    let first = try required(assembler.popFrame())
    #expect(first.size?.description == "320x180")
    #expect(first.payload == Maker.frame([Maker.sequence, Maker.picture, slice, Maker.otherSequence]))
    assembler.add([slice], 2)
    let second = try required(assembler.popFrame())
    #expect(second.size?.description == "642x362")
    #expect(second.payload == Maker.frame([Maker.otherSequence, Maker.picture, slice]))
    // Two sequence parameter sets with one id, and the picture parameter set of before.
    assembler.add([Maker.otherSequence, Maker.sequence, slice], 3)
    let third = try required(assembler.popFrame())
    #expect(third.size?.description == "320x180")
    #expect(third.payload == Maker.frame([Maker.sequence, Maker.picture, slice]))
  }

  @Test("a frame with slices of a keyframe and others is damaged")
  func mixed() throws {
    for slices in [
      [Maker.slice(0, isIDR: true), Maker.slice(0, firstMacroblock: 9)],
      [Maker.slice(0), Maker.slice(0, isIDR: true, firstMacroblock: 9)],
    ] {
      var assembler = H264FrameAssembler(parameterSets: [Maker.sequence, Maker.picture])
      assembler.add(slices, 1)
      #expect(try !required(assembler.popFrame()).dependency.isComplete)
      #expect(throws: ParseError.self) {
        try H264FrameHeader(parsing: Maker.frame([Maker.sequence, Maker.picture] + slices))
      }
    }
  }

  @Test("a frame whose parameter sets are unknown is damaged")
  func unknown() throws {
    var assembler = H264FrameAssembler()
    assembler.add([Maker.slice(0, isIDR: true, referenceIDC: 3)], 1)
    #expect(try !required(assembler.popFrame()).dependency.isComplete)
    assembler.add(Maker.keyframe(), 2)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    assembler.add([Maker.slice(1, picture: 3)], 3)
    #expect(try !required(assembler.popFrame()).dependency.isComplete)
  }

  @Test("a keyframe is damaged whose own parameter sets may be among the packets lost before it")
  func lostParameterSets() throws {
    var assembler = H264FrameAssembler()
    assembler.add(Maker.keyframe(), 1)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    assembler.addLost(1)
    assembler.add([Maker.slice(0, isIDR: true, referenceIDC: 3)], 2)
    #expect(try !required(assembler.popFrame()).dependency.isComplete)
    // A sender that does not repeat them has lost something else.
    assembler.add([Maker.slice(0, isIDR: true, referenceIDC: 3)], 3)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
    assembler.addLost(1)
    assembler.add([Maker.slice(0, isIDR: true, referenceIDC: 3)], 4)
    #expect(try required(assembler.popFrame()).dependency.isComplete)
  }

  @Test("a frame is damaged if any of its packets is missing, wherever")
  func missing() throws {
    let units = [Maker.slice(1, size: 90), Maker.slice(1, firstMacroblock: 120, size: 90)]
    for gap in 0..<6 {
      let (damaged, next) = try H264FrameAssembler.frames(
        without: gap, keyframe: Maker.keyframe(), damaged: units, next: [Maker.slice(2)])
      #expect(damaged.dependency.isReference == true, "\(gap)")
      // The loss of its last packet may have been that of another frame.
      #expect(next.dependency.packetsLostBefore == (gap == 5 ? 1 : 0), "\(gap)")
    }
  }

  @Test("a packet that cannot be read damages its frame and no other")
  func unreadable() throws {
    for bytes in ["1aff", "00ff", "78000567", "fcff"] {
      var assembler = H264FrameAssembler()
      assembler.add(Maker.keyframe(), 1)
      assembler.add(Maker.slice(1, referenceIDC: 0), 2)
      assembler.add(Maker.bytes(bytes), 2, marker: true)
      assembler.add([Maker.slice(1)], 3)
      #expect(try required(assembler.popFrame()).dependency.isComplete)
      #expect(try !required(assembler.popFrame()).dependency.isComplete)
      let next = try required(assembler.popFrame())
      #expect(next.dependency.isComplete && next.dependency.packetsLostBefore == 0)
    }
  }

  @Test("a NAL unit without its last fragment, and a fragment without its first, damage the frame")
  func fragments() throws {
    let payloads = H264Packetizer(maximumPayloadSize: 40).packetize(frame: Maker.frame([Maker.slice(1, size: 90)]))
    for kept in [[0, 1], [1, 2], [0, 2, 1], [2], [0, 0, 1, 2]] {
      var assembler = H264FrameAssembler()
      assembler.add(Maker.keyframe(), 1)
      #expect(assembler.popFrame() != nil)
      for (position, index) in kept.enumerated() {
        assembler.add(payloads[index], 2, marker: position == kept.count - 1)
      }
      #expect(try !required(assembler.popFrame()).dependency.isComplete, "\(kept)")
    }
  }

  @Test("a frame of more than 4 MiB or 8,192 packets is damaged, and memory is bounded")
  func limits() throws {
    var large = H264FrameAssembler()
    large.add(Maker.keyframe(), 1)
    #expect(large.popFrame() != nil)
    for index in 0..<90 {
      large.add(Maker.slice(1, firstMacroblock: index, size: 50_000), 2, marker: index == 89)
    }
    let frame = try required(large.popFrame())
    #expect(!frame.dependency.isComplete)
    #expect(frame.payload.readableBytes <= FrameLimits.maximumSize)
    var many = H264FrameAssembler()
    many.add(Maker.keyframe(), 1)
    #expect(many.popFrame() != nil)
    for index in 0...8_192 {
      many.add(Maker.slice(1, firstMacroblock: index, size: 8), 2, marker: index == 8_192)
    }
    #expect(try !required(many.popFrame()).dependency.isComplete)
  }

  @Test("a frame of more than 8,192 NAL units, or with more than 32 parameter sets in a packet, is damaged")
  func units() throws {
    func aggregation(_ unit: ByteBuffer, _ count: Int) -> ByteBuffer {
      var payload = ByteBuffer(bytes: [0x78])
      for _ in 0..<count {
        payload.writeInteger(UInt16(unit.readableBytes))
        payload.writeImmutableBuffer(unit)
      }
      return payload
    }
    for (payload, count, wanted) in [
      (aggregation(Maker.information, 81), 100, true), (aggregation(Maker.information, 82), 100, false),
      (aggregation(Maker.picture, 32), 1, true), (aggregation(Maker.picture, 33), 1, false),
    ] {
      var assembler = H264FrameAssembler()
      assembler.add(Maker.keyframe(), 1)
      #expect(assembler.popFrame() != nil)
      for _ in 0..<count { assembler.add(payload, 2) }
      assembler.add(Maker.slice(1), 2, marker: true)
      #expect(try required(assembler.popFrame()).dependency.isComplete == wanted)
    }
  }

  @Test("a stream of libx264 in two slices comes out as it went in, at any packet size", arguments: [200, 1_200])
  func real(size: Int) throws {
    let stream = try H264Stream.make(
      seconds: 0.5, ["-c:v", "libx264", "-tune", "zerolatency", "-x264-params", "slices=2:keyint=5"])
    var receiver = H264Receiver()
    var frames: [ByteBuffer] = []
    for (number, frame) in stream.frames.enumerated() {
      let payloads = H264Packetizer(maximumPayloadSize: size).packetize(frame: frame)
      for (position, payload) in payloads.enumerated() {
        receiver.add(nalUnitPacket(payload, number, marker: position == payloads.count - 1))
        while let (frame, isDecodable) = receiver.popFrame() {
          #expect(isDecodable)
          #expect(frame.dependency.isKeyframe == (number % 5 == 0))
          frames.append(frame.payload)
        }
      }
    }
    expectSame(frames, stream.frames)
  }

  @Test("the start of a keyframe is seen in its first packet, with its size where that has the parameter sets")
  func starts() throws {
    let idr = Maker.slice(0, isIDR: true, referenceIDC: 3, size: 90)
    let size = VideoSize(width: 320, height: 180)
    let packetizer = H264Packetizer(maximumPayloadSize: 60)
    let payloads = packetizer.packetize(frame: Maker.frame([Maker.sequence, Maker.picture, idr]))
    #expect(payloads.map { H264Receiver.keyframeStart(in: $0) } == [.init(size: size), .init(size: nil), nil])
    #expect(payloads.map { H264Receiver.startsFrame($0) } == [true, false, false])
    #expect(H264Receiver.keyframeStart(in: Maker.sequence) == .init(size: size))
    #expect(H264Receiver.keyframeStart(in: idr) == .init(size: nil))
    for other in [Maker.picture, Maker.slice(1), Maker.delimiter, Maker.information, ByteBuffer()] {
      #expect(H264Receiver.keyframeStart(in: other) == nil)
    }
    #expect(H264Receiver.startsFrame(Maker.slice(1)) && H264Receiver.startsFrame(Maker.delimiter))
    #expect(!H264Receiver.startsFrame(Maker.slice(1, firstMacroblock: 9)) && !H264Receiver.startsFrame(idr))
    let delta = packetizer.packetize(frame: Maker.frame([Maker.slice(1, size: 150)]))
    #expect(delta.map { H264Receiver.startsFrame($0) } == [true, false, false])
  }
}
