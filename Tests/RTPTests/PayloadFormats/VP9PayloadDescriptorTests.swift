import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("VP9 payload descriptor")
struct VP9PayloadDescriptorTests {
  /// Parses a descriptor before one byte of frame data, and checks that it is written back.
  private func parse(_ hex: String) throws -> VP9PayloadDescriptor {
    let header = bytes(hex)
    var payload = header
    payload.writeInteger(UInt8(0xEE))
    let descriptor = try VP9PayloadDescriptor(parsing: &payload)
    #expect(payload == bytes("EE"))
    #expect(written { descriptor.write(into: &$0) } == header)
    #expect(descriptor.byteCount == header.readableBytes)
    return descriptor
  }

  @Test("each flag is read alone")
  func flags() throws {
    #expect(
      try parse("08") == VP9PayloadDescriptor(isInterPicturePredicted: false, startsFrame: true, endsFrame: false))
    #expect(try parse("44") == VP9PayloadDescriptor(isInterPicturePredicted: true, startsFrame: false, endsFrame: true))
    #expect(try parse("01").isNotReferenceForUpperLayers)
    #expect(try parse("10").isFlexible)
    #expect(try parse("08").startsPicture && !parse("04").startsPicture)
  }

  @Test("the picture id has 7 or 15 bits")
  func pictureID() throws {
    #expect(try parse("88 11").pictureID == .init(0x11, isLong: false))
    #expect(try parse("88 92A7").pictureID == .init(0x12A7))
    #expect(try parse("88 8005").pictureID == .init(5, isLong: true))
  }

  @Test("layer indices are followed by TL0PICIDX only in the non-flexible mode")
  func layers() throws {
    let descriptor = try parse("A8 05 B5 77")
    #expect(
      descriptor.layers
        == .init(temporal: 5, isSwitchingUpPoint: true, spatial: 2, isInterLayerPredicted: true))
    #expect(descriptor.mode == .nonFlexible(baseLayerIndex: 0x77))
    #expect(!descriptor.startsPicture)
    #expect(try parse("A8 05 40 00").startsPicture)
    let flexible = try parse("B8 05 2A")
    #expect(flexible.layers == .init(temporal: 1, spatial: 5))
    #expect(flexible.mode == .flexible(referenceDifferences: []))
  }

  @Test("up to three references are read in the flexible mode")
  func references() throws {
    #expect(try parse("D8 05 02").mode == .flexible(referenceDifferences: [1]))
    #expect(try parse("D8 05 03 FF 08").mode == .flexible(referenceDifferences: [1, 127, 4]))
    var tooMany = bytes("D8 05 03 05 07 08 EE")
    #expect(throws: ParseError.self) { try VP9PayloadDescriptor(parsing: &tooMany) }
  }

  @Test("a scalability structure has the sizes of all layers and the pictures of a group")
  func structure() throws {
    // Three spatial layers with sizes, and a group of four pictures: 0 2 1 2.
    let descriptor = try parse(
      "8A 85AA 58 0140 00B4 0280 0168 0500 02D0 04 14 04 54 01 34 02 50"
    ).structure
    let structure = try #require(descriptor)
    #expect(structure.spatialLayers == 3)
    #expect(structure.sizes?.map(\.width) == [320, 640, 1_280])
    #expect(structure.sizes?.map(\.height) == [180, 360, 720])
    #expect(structure.pictures?.map(\.temporalLayer) == [0, 2, 1, 2])
    #expect(structure.pictures?.map(\.isSwitchingUpPoint) == [true, true, true, true])
    #expect(structure.pictures?.map(\.referenceDifferences) == [[4], [1], [2], []])
    let empty = try parse("0A E0").structure
    #expect(empty == VP9ScalabilityStructure(spatialLayers: 8))
    #expect(empty?.sizes == nil && empty?.pictures == nil)
    #expect(try parse("0A 08 00").structure == VP9ScalabilityStructure(spatialLayers: 1, pictures: []))
  }

  @Test(
    "a descriptor that is cut off, or without frame data after it, is rejected",
    arguments: [
      "", "80", "88 92", "88 92A7", "A8 05 B5", "A8 05 B5 77", "D8 05 03", "0A", "0A 58 0140 00B4", "0A 08",
      "0A 08 02 00",
      "0A 08 01 0C 01 02", "08",
    ])
  func tooShort(hex: String) {
    var payload = bytes(hex)
    #expect(throws: ParseError.self) { try VP9PayloadDescriptor(parsing: &payload) }
    #expect(payload == bytes(hex))
  }

  @Test("fields that are too large or contradict each other are written so that they can be parsed")
  func masking() throws {
    let sizes = Array(repeating: VP9ScalabilityStructure.Size(width: 1, height: 2), count: 9)
    let picture = VP9ScalabilityStructure.Picture(
      temporalLayer: 0xFF, isSwitchingUpPoint: false, referenceDifferences: [1, 2, 3, 4])
    let descriptor = VP9PayloadDescriptor(
      pictureID: .init(.max, isLong: false), isInterPicturePredicted: false,
      layers: .init(temporal: 0xFF, spatial: 0xFF),
      mode: .flexible(referenceDifferences: [255, 1, 2, 3]), startsFrame: false, endsFrame: false,
      structure: VP9ScalabilityStructure(sizes: sizes, pictures: Array(repeating: picture, count: 300)))
    var payload = written { descriptor.write(into: &$0) }
    #expect(payload.readableBytes == descriptor.byteCount)
    payload.writeInteger(UInt8(0))
    let again = try VP9PayloadDescriptor(parsing: &payload)
    #expect(again.pictureID?.value == 0x7F)
    #expect(again.isInterPicturePredicted)
    #expect(again.mode == .flexible(referenceDifferences: [127, 1, 2]))
    #expect(again.layers == .init(temporal: 7, spatial: 7))
    #expect(again.structure?.spatialLayers == 8)
    #expect(again.structure?.pictures?.count == 255)
    #expect(again.structure?.pictures?.first?.referenceDifferences == [1, 2, 3])
    #expect(VP9ScalabilityStructure(sizes: []).spatialLayers == 1)
    #expect(VP9ScalabilityStructure(spatialLayers: 0).spatialLayers == 1)
    // TL0PICIDX follows layer indices, and never stands alone.
    let alone = VP9PayloadDescriptor(
      isInterPicturePredicted: true, mode: .nonFlexible(baseLayerIndex: 3), startsFrame: true, endsFrame: true)
    #expect(written { alone.write(into: &$0) } == bytes("4C"))
    let missing = VP9PayloadDescriptor(
      isInterPicturePredicted: true, layers: .init(), startsFrame: true, endsFrame: true)
    #expect(written { missing.write(into: &$0) } == bytes("6C 00 00"))
  }

  @Test("random descriptors are parsed as they were written")
  func roundTrips() throws {
    var generator = SeededGenerator(seed: 9_628)
    for _ in 0..<5_000 {
      let descriptor = random(using: &generator)
      var payload = written { descriptor.write(into: &$0) }
      #expect(payload.readableBytes == descriptor.byteCount)
      payload.writeInteger(UInt8(0xEE))
      let again = try VP9PayloadDescriptor(parsing: &payload)
      #expect(again == descriptor)
      #expect(payload == bytes("EE"))
    }
  }

  private func random(using generator: inout SeededGenerator) -> VP9PayloadDescriptor {
    func flag() -> Bool { Bool.random(using: &generator) }
    func byte(_ limit: UInt8 = .max) -> UInt8 { UInt8.random(in: 0...limit, using: &generator) }
    let layers = VP9PayloadDescriptor.LayerIndices(
      temporal: byte(), isSwitchingUpPoint: flag(), spatial: byte(), isInterLayerPredicted: flag())
    let hasLayers = flag()
    let differences = (0..<byte(3)).map { _ in byte(127) }
    let isFlexible = flag()
    let pictures = (0..<byte(8)).map { _ in
      VP9ScalabilityStructure.Picture(
        temporalLayer: byte(), isSwitchingUpPoint: flag(), referenceDifferences: (0..<byte(3)).map { _ in byte() })
    }
    let sizes = (0...byte(7)).map { VP9ScalabilityStructure.Size(width: UInt16($0), height: UInt16(byte())) }
    let group = flag() ? pictures : nil
    let structure =
      flag()
      ? VP9ScalabilityStructure(sizes: sizes, pictures: group)
      : VP9ScalabilityStructure(spatialLayers: Int(byte(9)), pictures: group)
    return VP9PayloadDescriptor(
      pictureID: flag() ? .init(UInt16(byte()) << 7, isLong: flag()) : nil,
      isInterPicturePredicted: isFlexible ? !differences.isEmpty : flag(), layers: hasLayers ? layers : nil,
      mode: isFlexible
        ? .flexible(referenceDifferences: differences) : .nonFlexible(baseLayerIndex: hasLayers ? byte() : nil),
      startsFrame: flag(), endsFrame: flag(), isNotReferenceForUpperLayers: flag(),
      structure: flag() ? structure : nil)
  }
}
