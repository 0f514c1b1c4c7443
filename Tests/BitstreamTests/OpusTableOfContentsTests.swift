import Bitstream
import NIOCore
import Testing

@Suite("Table of contents of an Opus packet")
struct OpusTableOfContentsTests {
  @Test("the 32 configurations have the durations of RFC 6716, table 2")
  func configurations() throws {
    let silk = [480, 960, 1_920, 2_880]
    let celt = [120, 240, 480, 960]
    let durations = silk + silk + silk + [480, 960, 480, 960] + celt + celt + celt + celt
    for configuration in 0..<32 {
      let contents = try OpusTableOfContents(parsing: ByteBuffer(bytes: [UInt8(configuration) << 3, 1, 2, 3]))
      #expect(contents.configuration == configuration)
      #expect(contents.frameDuration == durations[configuration])
      #expect(contents.duration == durations[configuration])
    }
  }

  @Test("codes 0 to 2 mean one or two frames", arguments: [(0, 1), (1, 2), (2, 2)])
  func frameCounts(code: UInt8, count: Int) throws {
    let contents = try OpusTableOfContents(parsing: ByteBuffer(bytes: [0x78 | code, 1, 2]))
    #expect(contents.frames == count)
    #expect(contents.duration == 960 * count)
  }

  @Test("code 3 has a frame count without the padding and rate bits")
  func code3() throws {
    // 48 frames of 2.5 ms; 2 of 60 ms; 1 of 2.5 ms.
    #expect(try OpusTableOfContents(parsing: bytes("83 30 00")).duration == 5_760)
    #expect(try OpusTableOfContents(parsing: bytes("1B 02 00")).duration == 5_760)
    #expect(try OpusTableOfContents(parsing: bytes("83 C1 00")).frames == 1)
  }

  @Test("stereo is the third bit")
  func stereo() throws {
    #expect(try OpusTableOfContents(parsing: bytes("7C 00 00")).channels == 2)
    #expect(try OpusTableOfContents(parsing: bytes("78 00 00")).channels == 1)
  }

  @Test("an empty packet, no frames, and more than 120 ms are rejected")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try OpusTableOfContents(parsing: bytes(hex)) }
    }
    #expect(failure("") == "An Opus packet needs 1 byte, but none arrived.")
    #expect(failure("83") == "An Opus packet of code 3 needs 2 bytes, but only 1 arrived.")
    #expect(failure("83 00") == "An Opus packet's frame count must be 1 to 48, but it is 0.")
    #expect(
      failure("83 31") == "An Opus packet's duration in 48 kHz ticks must be at most 5760, but it is 5880.")
    #expect(
      failure("1B 03") == "An Opus packet's duration in 48 kHz ticks must be at most 5760, but it is 8640.")
  }
}
