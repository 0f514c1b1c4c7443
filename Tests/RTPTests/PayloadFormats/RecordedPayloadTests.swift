import Bitstream
import RTP
import TestSupport
import Testing

@Suite("Payloads of recorded packets")
struct RecordedPayloadTests {
  @Test("the first packet of a keyframe of Chromium has a header with the size")
  func keyframe() throws {
    var packet = try RTPPacket(parsing: Fixture.bytes("rtp/vp8-keyframe-start.bin", in: .module))
    _ = try VP8PayloadDescriptor(parsing: &packet.payload)
    let header = try VP8FrameHeader(parsing: packet.payload)
    #expect(header.isKeyframe && header.isShown)
    let size = try #require(header.size)
    #expect(size.width == 640 && size.height == 480)
    #expect(size.horizontalScale == 0 && size.verticalScale == 0)
  }

  @Test("an Opus packet of Chromium has 20 ms of mono")
  func chromium() throws {
    let packet = try OpusPacket(parsing: RTPPacket(parsing: Fixture.bytes("rtp/opus.bin", in: .module)).payload)
    #expect(packet.duration == 960)
    #expect(packet.channels == 1)
    // A hybrid fullband mode (RFC 6716, table 2).
    #expect((14...15).contains(packet.contents.configuration))
  }
}
