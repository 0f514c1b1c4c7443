import Bitstream
import NIOCore
import Testing

@Suite("VP8 frame header")
struct VP8FrameHeaderTests {
  /// The width, the height, and the scale of both.
  private static func numbers(_ size: VP8FrameHeader.Size) -> [Int] {
    [Int(size.width), Int(size.height), Int(size.horizontalScale), Int(size.verticalScale)]
  }

  @Test("a keyframe contains its size")
  func keyframe() throws {
    // The header of a frame of Chromium.
    let header = try VP8FrameHeader(parsing: bytes("1071009D012A8002E001"))
    #expect(header.isKeyframe)
    #expect(header.isShown)
    #expect(header.version == 0)
    // 0x007110: 19 bits above the lowest five.
    #expect(header.firstPartitionSize == 0x388)
    #expect(header.size.map(Self.numbers) == [640, 480, 0, 0])
  }

  @Test("the two bits above a size are the scale")
  func scale() throws {
    let header = try VP8FrameHeader(parsing: bytes("10 0000 9D012A 4081 F0C0"))
    #expect(header.size.map(Self.numbers) == [0x0140, 0x00F0, 2, 3])
  }

  @Test("an interframe has a header of three bytes and no size")
  func interframe() throws {
    let header = try VP8FrameHeader(parsing: bytes("A7 1200"))
    #expect(!header.isKeyframe)
    #expect(header.version == 3)
    #expect(!header.isShown)
    #expect(header.firstPartitionSize == 0x95)
    #expect(header.size == nil)
  }

  @Test("a header that is cut off or has no start code is rejected")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try VP8FrameHeader(parsing: bytes(hex)) }
    }
    #expect(failure("01 00") == "A VP8 frame needs 3 bytes, but only 2 arrived.")
    #expect(failure("00 0000 9D012A 4001 F0") == "A VP8 keyframe needs 10 bytes, but only 9 arrived.")
    #expect(
      failure("00 0000 9D012B 4001 F000")
        == "A VP8 keyframe's start code must be 10289450, but it is 10289451.")
  }
}
