import Bitstream
import NIOCore
import Testing

@Suite("H.264 frames")
struct H264FrameTests {
  @Test("NAL units are read one after the other, with type and nal_ref_idc")
  func units() {
    let stream = H264Streams.high
    let units = Array(H264NALUnits(H264Streams.frame([stream.sequence, stream.picture] + stream.slices)))
    #expect(units.map(\.type) == [.sequenceParameterSet, .pictureParameterSet, .idrSlice, .slice, .slice])
    #expect(units.map(\.referenceIDC) == [3, 3, 3, 2, 0])
    #expect(units.map(\.bytes) == [stream.sequence, stream.picture] + stream.slices)
    #expect(units.map(\.type.isSlice) == [false, false, true, true, true])
  }

  @Test("NAL units end at the first broken length")
  func brokenLength() {
    for end in ["", "00", "00000000", "0000000265", "FFFFFFFF65", "00000000 00000001 65"] {
      let units = Array(H264NALUnits(bytes("00000002 6588" + end)))
      #expect(units.map(\.bytes) == [bytes("6588")], "\(end)")
    }
  }

  @Test("a slice header tells its picture parameter set and frame_num")
  func slices() throws {
    let high = try H264SequenceParameterSet(parsing: H264Streams.high.sequence)
    let headers = try H264Streams.high.slices.map { try H264SliceHeader(parsing: $0, parameters: high) }
    #expect(headers.map(\.frameNumber) == [0, 1, 2])
    #expect(headers.map(\.isIDR) == [true, false, false])
    #expect(headers.map(\.isBidirectional) == [false, false, true])
    #expect(headers.map(\.referenceIDC) == [3, 2, 0])
    #expect(headers.allSatisfy { $0.pictureParameterSetID == 0 && $0.firstMacroblock == 0 })

    let baseline = try H264SequenceParameterSet(parsing: H264Streams.baseline.sequence)
    let parts = try H264Streams.baseline.slices.map { try H264SliceHeader(parsing: $0, parameters: baseline) }
    #expect(parts.map(\.frameNumber) == [0, 0, 1, 1, 2])
    // 20 macroblocks in each of 12 rows, the second slice from the seventh row on.
    #expect(parts.map(\.firstMacroblock) == [0, 120, 0, 120, 0])
    #expect(try H264SliceHeader(parsing: H264Streams.baseline.slices[0]).frameNumber == nil)
  }

  @Test("a frame is a keyframe with the size of its parameter sets if it has an IDR slice")
  func frames() throws {
    let stream = H264Streams.high
    let keyframe = try H264FrameHeader(parsing: H264Streams.frame([stream.sequence, stream.picture, stream.slices[0]]))
    #expect(keyframe.isKeyframe)
    #expect(keyframe.isReference)
    #expect(keyframe.size == .init(width: 320, height: 180))
    let reference = try H264FrameHeader(parsing: H264Streams.frame([stream.slices[1]]))
    #expect(!reference.isKeyframe)
    #expect(reference.isReference)
    #expect(reference.size == nil)
    #expect(try !H264FrameHeader(parsing: H264Streams.frame([stream.slices[2]])).isReference)
  }

  @Test("what is no whole frame is refused")
  func refused() {
    let stream = H264Streams.high
    var cut = H264Streams.frame([stream.slices[1]])
    cut.moveWriterIndex(to: cut.writerIndex - 1)
    let frames = [
      ByteBuffer(), cut, H264Streams.frame([stream.sequence, stream.picture]), H264Streams.frame([stream.slices[0]]),
      H264Streams.frame([stream.sequence, stream.slices[0]]), H264Streams.frame([stream.picture, stream.slices[0]]),
    ]
    for frame in frames {
      #expect(throws: ParseError.self) { try H264FrameHeader(parsing: frame) }
    }
  }
}
