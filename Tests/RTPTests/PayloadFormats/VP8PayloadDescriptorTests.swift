import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("VP8 payload descriptor")
struct VP8PayloadDescriptorTests {
  /// Parses a descriptor before one byte of frame data, and checks that it is written back.
  private func parse(_ hex: String) throws -> VP8PayloadDescriptor {
    let header = bytes(hex)
    var payload = header
    payload.writeInteger(UInt8(0xEE))
    let descriptor = try VP8PayloadDescriptor(parsing: &payload)
    #expect(payload == bytes("EE"))
    #expect(written { descriptor.write(into: &$0) } == header)
    #expect(descriptor.byteCount == header.readableBytes)
    return descriptor
  }

  @Test("the shortest descriptor begins a frame")
  func shortest() throws {
    #expect(try parse("10") == VP8PayloadDescriptor(startsPartition: true))
    #expect(try parse("10").startsFrame)
    #expect(try !parse("00").startsFrame)
    #expect(try !parse("13").startsFrame)
    #expect(try parse("33").partitionIndex == 3)
    #expect(try parse("30").isNonReference)
  }

  @Test("the picture id has 7 or 15 bits")
  func pictureID() throws {
    #expect(try parse("90 80 11").pictureID == .init(0x11, isLong: false))
    #expect(try parse("90 80 92A7").pictureID == .init(0x12A7))
    #expect(try parse("90 80 FFFF").pictureID?.value == 0x7FFF)
    // RFC 7741 allows a small number in the long form.
    #expect(try parse("90 80 8005").pictureID == .init(5, isLong: true))
  }

  @Test("base layer index, temporal layer and keyframe index are parsed alone and together")
  func extensions() throws {
    #expect(try parse("90 40 1A").baseLayerIndex == 0x1A)
    #expect(try parse("90 20 A0").temporalLayer == .init(index: 2, isLayerSync: true))
    #expect(try parse("90 10 1F").keyframeIndex == 31)
    let all = try parse("90 F0 8234 56 74")
    #expect(all.pictureID == .init(0x0234))
    #expect(all.baseLayerIndex == 0x56)
    #expect(all.temporalLayer == .init(index: 1, isLayerSync: true))
    #expect(all.keyframeIndex == 0x14)
  }

  @Test("an empty extension is kept")
  func emptyExtension() throws {
    #expect(try parse("90 00").pictureID == nil)
  }

  @Test("descriptors of Chromium mark the start and the continuation of a frame")
  func chromium() throws {
    func read(_ name: String) throws -> (VP8PayloadDescriptor, ByteBuffer) {
      var packet = try RTPPacket(parsing: Fixture.bytes("rtp/\(name).bin", in: .module))
      return (try VP8PayloadDescriptor(parsing: &packet.payload), packet.payload)
    }
    let (start, videoFrame) = try read("vp8-keyframe-start")
    #expect(start.startsFrame)
    #expect(start.pictureID == .init(0x25DC))
    #expect(try VP8FrameHeader(parsing: videoFrame).isKeyframe)
    let (middle, _) = try read("vp8-keyframe-middle")
    #expect(!middle.startsPartition)
    #expect(middle.pictureID == start.pictureID)
    // With simulcast and a dependency descriptor there is no picture id.
    let (simulcast, small) = try read("vp8-two-byte-extensions")
    #expect(simulcast == VP8PayloadDescriptor(startsPartition: true))
    #expect(try VP8FrameHeader(parsing: small).size?.width == 160)
  }

  @Test(
    "a descriptor that is cut off, or without frame data after it, is rejected",
    arguments: [
      ("", 0), ("80", 1), ("90 80", 2), ("90 80 92", 3), ("90 F0 8234 56", 5), ("90 F0 8234 56 74", 6), ("10", 1),
    ])
  func tooShort(hex: String, count: Int) {
    var payload = bytes(hex)
    #expect(throws: ParseError.self) { try VP8PayloadDescriptor(parsing: &payload) }
    #expect(payload.readableBytes == count)
  }

  @Test("fields that are too large do not overflow into others")
  func masking() {
    var descriptor = VP8PayloadDescriptor(
      startsPartition: false, partitionIndex: 0xFF, pictureID: .init(.max, isLong: false),
      temporalLayer: .init(index: 0xFF, isLayerSync: false), keyframeIndex: 0xFF)
    descriptor.partitionIndex = 0x0F
    #expect(written { descriptor.write(into: &$0) } == bytes("87 B0 7F DF"))
  }
}
