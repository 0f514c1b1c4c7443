import Bitstream
import NIOCore
import TestSupport
import Testing

@Suite("H.265 parameter sets")
struct H265ParameterSetTests {
  @Test(
    "a sequence parameter set tells profile, tier and level, the size inside of the conformance window, and reordering")
  func open() throws {
    let parameters = try H265SequenceParameterSet(parsing: H265Streams.open.sequence)
    #expect(parameters.codecString == "hvc1.1.6.L60.90")
    #expect(parameters.profile.profileIDC == 1 && parameters.profile.levelIDC == 60 && !parameters.profile.isHighTier)
    #expect(parameters.id == 0 && parameters.videoParameterSetID == 0)
    #expect(parameters.codedSize == .init(width: 320, height: 192))
    #expect(parameters.size == .init(width: 320, height: 180))
    #expect(parameters.pictureOrderCountBits == 8)
    #expect(parameters.reorderedFrames == 2 && parameters.bufferedFrames == 5)
    #expect(parameters.chromaFormat == 1 && parameters.bitDepth == 8)
    #expect(parameters.temporalLayers == 1 && parameters.isTemporallyNested)
  }

  @Test("the profile and level of lower temporal sub-layers are skipped")
  func layers() throws {
    let parameters = try H265SequenceParameterSet(parsing: H265Streams.layers.sequence)
    #expect(parameters.temporalLayers == 2)
    #expect(parameters.codecString == "hvc1.1.6.L63.90")
    #expect(parameters.size == .init(width: 642, height: 362))
    #expect(parameters.codedSize == .init(width: 648, height: 368))
    #expect(parameters.reorderedFrames == 2)
    #expect(try H265VideoParameterSet(parsing: H265Streams.layers.video).temporalLayers == 2)
  }

  @Test("depths and formats of chroma are read")
  func formats() throws {
    let tenBits = try H265SequenceParameterSet(parsing: H265Streams.tenBits)
    #expect(tenBits.bitDepth == 10 && tenBits.chromaFormat == 1 && tenBits.codecString == "hvc1.2.4.L60.90")
    #expect(tenBits.size == .init(width: 320, height: 180) && tenBits.reorderedFrames == 0)
    let full = try H265SequenceParameterSet(parsing: H265Streams.fullColour)
    #expect(full.chromaFormat == 3 && !full.hasSeparateColourPlanes && full.bitDepth == 8)
    #expect(full.codecString == "hvc1.4.10.L60.9E.8")
    #expect(full.size == .init(width: 320, height: 180))
  }

  @Test("a picture parameter set tells what the header of a slice depends on")
  func picture() throws {
    let open = try H265PictureParameterSet(parsing: H265Streams.open.picture)
    #expect(open.id == 0 && open.sequenceParameterSetID == 0)
    #expect(!open.hasDependentSliceSegments && !open.hasOutputFlag && open.extraSliceHeaderBits == 0)
  }

  @Test("sets are found by the ids of picture parameter sets, and later ones replace those of their id")
  func sets() throws {
    let stream = H265Streams.open
    var sets = H265Streams.sets([stream.picture])
    #expect(sets.sequence(for: 0) == nil && sets.units(for: 0) == nil)
    sets.insert(stream.sequence)
    #expect(sets.sequence(for: 0) != nil && sets.units(for: 0) == nil)
    sets.insert(stream.video)
    #expect(sets.units(for: 0) == [stream.video, stream.sequence, stream.picture])
    #expect(sets.units(for: 1) == nil)
    sets.insert(H265Streams.layers.sequence)
    #expect(sets.sequence(for: 0)?.size == .init(width: 642, height: 362))
    #expect(sets.all(of: .sequenceParameterSet) == [H265Streams.layers.sequence])
    let inserted = sets.insert(stream.slices[0])
    #expect(!inserted)
  }

  @Test("sets of another type, of an upper layer, too large or cut are refused")
  func refused() {
    let stream = H265Streams.open
    for (set, name) in [(stream.video, "VPS"), (stream.sequence, "SPS"), (stream.picture, "PPS")] {
      var large = set
      large.writeBytes([UInt8](repeating: 0xFF, count: H265ParameterSets.maximumBytes))
      var upper = set
      upper.setInteger(UInt8(0x09), at: upper.readerIndex + 1)
      for refused in [large, upper, ByteBuffer(), set.getSlice(at: set.readerIndex, length: 2) ?? set] {
        var sets = H265ParameterSets()
        let inserted = sets.insert(refused)
        #expect(!inserted && sets.isEmpty, "\(name)")
      }
    }
    #expect(throws: ParseError.self) { try H265SequenceParameterSet(parsing: stream.picture) }
    #expect(
      sentence { () throws(ParseError) in _ = try H265PictureParameterSet(parsing: stream.sequence) }
        == "A PPS's nal_unit_type must be 34, but it is 33.")
  }

  @Test("a record has what was written into it, and ignores what it does not know")
  func record() throws {
    let stream = H265Streams.open
    let frame = H265Streams.frame([stream.video, stream.sequence, stream.picture, stream.slices[0]])
    let configuration = try #require(HEVCDecoderConfiguration(keyframe: frame))
    let record = configuration.encoded
    let again = try HEVCDecoderConfiguration(parsing: record)
    #expect(again == configuration)
    #expect(again.units == H265Streams.frame([stream.video, stream.sequence, stream.picture]))
    // The first bytes as ffmpeg writes them into MP4, apart from the segmentation, which is unknown.
    #expect(
      record.getSlice(at: record.readerIndex, length: 23)
        == bytes("01 01 60000000 900000000000 3C F000 FC FD F8 F8 0000 0F 03"))
    // An array of SEI, which ffmpeg writes as well.
    var extended = record
    extended.setInteger(UInt8(4), at: extended.readerIndex + 22)
    extended.writeBytes([0x27, 0, 1, 0, 3, 0x4E, 1, 5])
    #expect(try HEVCDecoderConfiguration(parsing: extended) == configuration)
    for length in 0..<record.readableBytes {
      let cut = try #require(record.getSlice(at: record.readerIndex, length: length))
      #expect(throws: ParseError.self) { try HEVCDecoderConfiguration(parsing: cut) }
    }
    #expect(HEVCDecoderConfiguration(keyframe: H265Streams.frame([stream.sequence, stream.picture])) == nil)
  }

  @Test("random bytes, and bytes of real sets that were changed, are read or refused, and sizes stay within limits")
  func random() {
    var generator = SeededGenerator(seed: 265)
    let real = [H265Streams.open.sequence, H265Streams.layers.sequence, H265Streams.fullColour, H265Streams.tenBits]
    for round in 0..<20_000 {
      var unit = Array((real.randomElement(using: &generator) ?? real[0]).readableBytesView)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        unit[Int.random(in: 2..<unit.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      if round % 4 == 0 { unit = [0x42, 1] + (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) } }
      guard let set = try? H265SequenceParameterSet(parsing: ByteBuffer(bytes: unit)) else { continue }
      #expect(
        (1...set.codedSize.width).contains(set.size.width) && (1...set.codedSize.height).contains(set.size.height))
      #expect((4...16).contains(set.pictureOrderCountBits) && set.reorderedFrames <= 15 && set.temporalLayers <= 7)
    }
  }
}
