import Bitstream
import NIOCore
import TestSupport
import Testing

@Suite("AV1 headers")
struct AV1HeaderTests {
  /// The sizes of the temporal units of a fixture; nil where a size is unknown.
  private func sizes(_ name: String) throws -> [String?] {
    var state = AV1TemporalUnit.State()
    return try AV1Streams.fixture(name).map { unit in
      try AV1TemporalUnit(parsing: unit, after: &state).size.map { "\($0.width)x\($0.height)" }
    }
  }

  @Test("a frame tells its size itself, by its sequence header, or by a reference, whatever fields are before that")
  func sizes() throws {
    #expect(try sizes("resized") == ["57x43"] + [String](repeating: "43x32", count: 5))
    // With super-resolution a frame is coded with a smaller width than it is shown with.
    for name in ["super-resolution", "decoder-model", "no-order-hints"] {
      #expect(try sizes(name) == [String](repeating: "64x48", count: 6), "\(name)")
    }
    #expect(try sizes("hidden") == [String](repeating: "64x48", count: 20))
  }

  @Test("of the frames of a temporal unit one is shown, and hidden ones can be shown later")
  func hidden() throws {
    var (shown, existing) = (0, 0)
    var state = AV1TemporalUnit.State()
    for unit in try AV1Streams.fixture("hidden") {
      #expect(try AV1TemporalUnit(parsing: unit, after: &state).isShown)
      let sequence = try #require(state.sequence)
      for obu in AV1OBUs(unit) where obu.type.beginsFrame {
        let header = try AV1FrameHeader(parsing: obu, sequence: sequence)
        if header.isShown { shown += 1 }
        if header.shownSlot != nil { existing += 1 }
        let start = try AV1FrameHeader.Start(parsing: obu.payload)
        #expect(start.kind == header.kind && start.isShown == header.isShown && start.shownSlot == header.shownSlot)
      }
    }
    #expect(shown == 20)
    #expect(existing == 7)
  }

  @Test("a keyframe begins with a sequence header and shows a key frame")
  func keyframes() throws {
    let units = try AV1Streams.fixture("resized")
    #expect(
      try units.map { try AV1TemporalUnit(parsing: $0).isKeyframe } == [true] + [Bool](repeating: false, count: 5))
    // Without the OBUs before its frame, a key frame does not tell its size, and is no keyframe to begin with.
    let alone = AV1Streams.unit(AV1OBUs(units[0]).filter { $0.type.beginsFrame })
    let parsed = try AV1TemporalUnit(parsing: alone)
    #expect(!parsed.isKeyframe && parsed.isShown && parsed.size == nil && parsed.sequence == nil)
    // Nor is a sequence header before another frame, which some encoders repeat.
    let sequence = try #require(AV1OBUs(units[0]).first { $0.type == .sequenceHeader })
    let repeated = AV1Streams.unit([sequence] + Array(AV1OBUs(units[1])))
    #expect(try !AV1TemporalUnit(parsing: repeated).isKeyframe)
  }

  @Test("a frame takes its size from a reference only if that is known")
  func unknownReference() throws {
    let units = try AV1Streams.fixture("resized")
    let sequence = try #require(try AV1TemporalUnit(parsing: units[0]).sequence)
    let frame = try #require(AV1OBUs(units[2]).first { $0.type.beginsFrame })
    #expect(try AV1FrameHeader(parsing: frame, sequence: sequence).size == nil)
  }

  @Test("a sequence header tells profile, level, tier, colours and size")
  func sequence() throws {
    let header = try AV1SequenceHeader(parsing: AV1Streams.sequenceHeader)
    #expect(header.codecString == "av01.0.00M.08")
    #expect(header.maximumSize == .init(width: 320, height: 180))
    #expect(header.operatingPoints == [.init(layers: 0, level: 0, isHighTier: false)] && header.spatialLayers == 1)
    #expect(header.profile == 0 && header.bitDepth == 8 && !header.isMonochrome && !header.isReducedStillPicture)
    #expect(header.hasHalfChromaWidth && header.hasHalfChromaHeight)
  }

  @Test("the first operating point tells the number of spatial layers")
  func layers() {
    for (layers, count) in [(0, 1), (0x101, 1), (0x307, 2), (0x707, 3), (0xF01, 4), (0x200, 2)] {
      #expect(
        AV1SequenceHeader.OperatingPoint(layers: UInt16(layers), level: 0, isHighTier: false).spatialLayers == count)
    }
  }

  @Test("a still picture with a short header is a keyframe")
  func stillPicture() throws {
    let sequence = AV1Bits {
      // seq_profile, still_picture, reduced_still_picture_header, seq_level_idx, bits of width and height
      $0.write(1, 3)
      $0.write(3, 2)
      $0.write(9, 5)
      $0.write(8, 4)
      $0.write(7, 4)
      $0.write(319, 9)
      $0.write(179, 8)
      // Block tools, enable_superres, enable_cdef, enable_restoration
      $0.write(0, 3)
      $0.write(0, 3)
      // high_bitdepth, color_description_present_flag with sRGB
      $0.write(1, 1)
      $0.write(1, 1)
      $0.write(0x010D00, 24)
      $0.write(0, 1)
    }.bytes
    let header = try AV1SequenceHeader(parsing: sequence)
    #expect(header.codecString == "av01.1.09M.10" && header.isReducedStillPicture)
    #expect(!header.hasHalfChromaWidth && !header.hasHalfChromaHeight)
    let frame = AV1OBU(.frame, payload: ByteBuffer(bytes: [0, 0]))
    let unit = try AV1TemporalUnit(parsing: AV1Streams.unit([AV1OBU(.sequenceHeader, payload: sequence), frame]))
    #expect(unit.isKeyframe && unit.isShown && unit.size == .init(width: 320, height: 180))
  }

  @Test("a temporal unit has a limited number of OBUs, frames and sequence headers, and at least one frame")
  func limits() throws {
    let sequence = AV1OBU(.sequenceHeader, payload: AV1Streams.sequenceHeader)
    let frame = AV1OBU(.frame, payload: ByteBuffer(bytes: [0x10, 0]))
    let metadata = AV1OBU(.metadata, payload: ByteBuffer(bytes: [1]))
    func parse(_ obus: [AV1OBU]) throws -> AV1TemporalUnit { try AV1TemporalUnit(parsing: AV1Streams.unit(obus)) }
    #expect(try parse([sequence, frame]).isKeyframe)
    #expect(
      try parse([sequence, frame] + Array(repeating: metadata, count: AV1TemporalUnit.maximumOBUs - 2)).isKeyframe)
    for (repeated, count) in [
      (metadata, AV1TemporalUnit.maximumOBUs), (frame, AV1TemporalUnit.maximumFrames),
      (sequence, AV1TemporalUnit.maximumFrames),
    ] {
      #expect(throws: ParseError.self) { try parse([sequence, frame] + Array(repeating: repeated, count: count)) }
    }
    #expect(throws: ParseError.self) { try parse([sequence, metadata]) }
    #expect(throws: ParseError.self) { try parse([]) }
    let long = ByteBuffer(repeating: 0, count: AV1SequenceHeader.maximumBytes + 1)
    #expect(throws: ParseError.self) { try AV1SequenceHeader(parsing: long) }
  }

  @Test("damaged and random headers are errors or other headers, and never a trap")
  func damaged() throws {
    var generator = SeededGenerator(seed: 1)
    let names = ["resized", "super-resolution", "decoder-model", "no-order-hints", "hidden"]
    let units = try names.flatMap { try AV1Streams.fixture($0) }
    var (errors, parsed) = (0, 0)
    for _ in 0..<20_000 {
      var unit = units.randomElement(using: &generator) ?? ByteBuffer()
      var state = AV1TemporalUnit.State()
      _ = try AV1TemporalUnit(parsing: units[0], after: &state)
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let index = Int.random(in: 0..<max(1, min(24, unit.readableBytes)), using: &generator)
        unit.setInteger(UInt8.random(in: 0...255, using: &generator), at: unit.readerIndex + index)
      }
      let length = Int.random(in: 0...unit.readableBytes, using: &generator)
      if Bool.random(using: &generator) { unit = unit.getSlice(at: unit.readerIndex, length: length) ?? unit }
      if (try? AV1TemporalUnit(parsing: unit, after: &state)) != nil { parsed += 1 } else { errors += 1 }
      if let configuration = AV1DecoderConfiguration(keyframe: unit) { _ = configuration.encoded }
      _ = try? AV1DecoderConfiguration(parsing: unit)
      _ = try? AV1SequenceHeader(parsing: unit)
    }
    #expect(errors > 1_000 && parsed > 1_000)
  }
}
