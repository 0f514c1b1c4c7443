import Bitstream
import NIOCore
import Testing

@Suite("H.264 parameter sets")
struct H264ParameterSetTests {
  @Test("a sequence parameter set tells profile, level, and the size after cropping")
  func high() throws {
    let parameters = try H264SequenceParameterSet(parsing: H264Streams.high.sequence)
    #expect(parameters.codecString == "avc1.64000d")
    #expect(parameters.profileIDC == 100)
    #expect(parameters.levelIDC == 13)
    #expect(parameters.id == 0)
    #expect(parameters.codedSize == .init(width: 320, height: 192))
    #expect(parameters.size == .init(width: 320, height: 180))
    #expect(parameters.log2MaximumFrameNumber == 4)
    #expect(parameters.reorderedFrames == 2)
    #expect(parameters.chromaFormat == 1)
    #expect(parameters.bitDepth == 8)
    #expect(parameters.isProgressive)
    #expect(parameters.maximumReferences == 4)
  }

  @Test("a size can be cropped in both directions")
  func main() throws {
    let parameters = try H264SequenceParameterSet(parsing: H264Streams.main.sequence)
    #expect(parameters.codecString == "avc1.4d401e")
    #expect(parameters.codedSize == .init(width: 656, height: 368))
    #expect(parameters.size == .init(width: 642, height: 362))
    #expect(parameters.reorderedFrames == 0)
  }

  @Test("constrained baseline is told by its constraint flags, and has no reordering")
  func baseline() throws {
    let parameters = try H264SequenceParameterSet(parsing: H264Streams.baseline.sequence)
    #expect(parameters.codecString == "avc1.42c00d")
    #expect(parameters.constraintFlags == 0xC0)
    #expect(parameters.pictureOrderCountType == 2)
    #expect(parameters.reorderedFrames == 0)
  }

  @Test("formats of chroma, depths and scaling lists are read")
  func formats() throws {
    let tenBits = try H264SequenceParameterSet(parsing: H264Streams.tenBits)
    #expect(tenBits.chromaFormat == 2)
    #expect(tenBits.bitDepth == 10)
    #expect(tenBits.size == .init(width: 320, height: 180))
    let scaled = try H264SequenceParameterSet(parsing: H264Streams.scaled)
    #expect(scaled.chromaFormat == 3)
    #expect(!scaled.hasSeparateColourPlanes)
    #expect(scaled.size == .init(width: 320, height: 180))
  }

  @Test("the height of interlaced video is that of both fields")
  func interlaced() throws {
    let parameters = try H264SequenceParameterSet(parsing: H264Streams.interlaced)
    #expect(!parameters.isProgressive)
    #expect(parameters.size == .init(width: 320, height: 240))
    #expect(parameters.reorderedFrames == 2)
  }

  @Test("a parameter set that is cut is an error or has unknown reordering, whatever its length")
  func cut() {
    for stream in [
      H264Streams.high.sequence, H264Streams.tenBits, H264Streams.scaled, H264Streams.interlaced,
      H264Streams.main.sequence,
    ] {
      for length in 0..<stream.readableBytes {
        guard let part = stream.getSlice(at: stream.readerIndex, length: length),
          let parameters = try? H264SequenceParameterSet(parsing: part)
        else { continue }
        #expect(parameters.size == (try? H264SequenceParameterSet(parsing: stream))?.size)
      }
    }
  }

  @Test("sizes beyond the limits are refused in a sentence")
  func limits() {
    var long = H264Streams.high.sequence
    long.writeRepeatingByte(0x55, count: 1_024)
    #expect(
      sentence { () throws(ParseError) in _ = try H264SequenceParameterSet(parsing: long) }
        == "An SPS's size must be at most 1024 bytes, but it is 1050.")
    #expect(
      sentence { () throws(ParseError) in _ = try H264SequenceParameterSet(parsing: bytes("68ebe3cb22c0")) }
        == "An SPS's nal_unit_type must be 7, but it is 8.")
    // An id of 47 zero bits, with two emulation prevention bytes among them.
    #expect(
      sentence { () throws(ParseError) in
        _ = try H264SequenceParameterSet(parsing: bytes("6742c00d 0000030000030001FF"))
      }
        == "An Exp-Golomb code in an SPS must be of at most 32 bits, but it is 33.")
    // The id and log2_max_frame_num_minus4 are 0, pic_order_cnt_type is 2, and max_num_ref_frames is 17.
    #expect(
      sentence { () throws(ParseError) in _ = try H264SequenceParameterSet(parsing: bytes("6742c00d d848")) }
        == "An SPS's max_num_ref_frames must be at most 16, but it is 17.")
  }

  @Test("a picture parameter set names its sequence parameter set")
  func picture() throws {
    let high = try H264PictureParameterSet(parsing: H264Streams.high.picture)
    #expect(high.id == 0)
    #expect(high.sequenceParameterSetID == 0)
    #expect(high.usesArithmeticCoding)
    let baseline = try H264PictureParameterSet(parsing: H264Streams.baseline.picture)
    #expect(!baseline.usesArithmeticCoding)
    // Ids 3 and 2: 00100 011.
    let other = try H264PictureParameterSet(parsing: bytes("68 23 80"))
    #expect(other.id == 3)
    #expect(other.sequenceParameterSetID == 2)
  }

  @Test("the last parameter set of an id counts")
  func sets() throws {
    var sets = H264ParameterSets()
    #expect(sets.isEmpty)
    #expect(sets.sequence(for: 0) == nil)
    let result1 = sets.insert(H264Streams.high.picture)
    #expect(result1)
    #expect(sets.sequence(for: 0) == nil)
    let result2 = sets.insert(H264Streams.high.sequence)
    #expect(result2)
    #expect(sets.sequence(for: 0)?.profileIDC == 100)
    let result3 = sets.insert(H264Streams.main.sequence)
    #expect(result3)
    #expect(sets.sequence(for: 0)?.profileIDC == 77)
    let units = try #require(sets.units(for: 0))
    #expect(units.sequence == H264Streams.main.sequence)
    #expect(units.picture == H264Streams.high.picture)
    let result4 = sets.insert(H264Streams.high.slices[0])
    #expect(!result4)
    let result5 = sets.insert(bytes("67"))
    #expect(!result5)
  }

  @Test("an avcC record is written as ffmpeg writes it, and read back")
  func record() throws {
    let keyframe = H264Streams.frame([H264Streams.high.sequence, H264Streams.high.picture, H264Streams.high.slices[0]])
    let configuration = try #require(AVCDecoderConfiguration(keyframe: keyframe))
    // By `ffmpeg -i high.h264 -c copy high.mp4`.
    let expected = bytes(
      "0164000dffe1001a6764000dacd941419f9f0110000003001000000303c0f142996001000668ebe3cb22c0fdf8f800")
    #expect(configuration.encoded == expected)
    let parsed = try AVCDecoderConfiguration(parsing: expected)
    #expect(parsed.sequenceParameterSets == [H264Streams.high.sequence])
    #expect(parsed.pictureParameterSets == [H264Streams.high.picture])
    #expect(parsed.parameters.codecString == "avc1.64000d")
    #expect(parsed.lengthSize == 4)
    #expect(parsed.encoded == expected)
    #expect(parsed.units == H264Streams.frame([H264Streams.high.sequence, H264Streams.high.picture]))
    for length in 0..<(expected.readableBytes - 4) {
      guard let part = expected.getSlice(at: expected.readerIndex, length: length) else { continue }
      #expect(throws: ParseError.self) { try AVCDecoderConfiguration(parsing: part) }
    }
  }

  @Test("an avcC record has the last usable parameter set of each id")
  func usable() throws {
    let (high, main) = (H264Streams.high, H264Streams.main)
    let frame = H264Streams.frame([
      bytes("6764"), main.sequence, high.sequence, high.picture, bytes("68"), high.slices[0],
    ])
    let configuration = try #require(AVCDecoderConfiguration(keyframe: frame))
    #expect(configuration.sequenceParameterSets == [high.sequence])
    #expect(configuration.pictureParameterSets == [high.picture])
  }

  @Test("a frame without parameter sets gives no avcC record")
  func noRecord() {
    #expect(AVCDecoderConfiguration(keyframe: H264Streams.frame([H264Streams.high.slices[0]])) == nil)
    #expect(AVCDecoderConfiguration(keyframe: H264Streams.frame([H264Streams.high.sequence])) == nil)
    #expect(AVCDecoderConfiguration(keyframe: ByteBuffer()) == nil)
  }
}
