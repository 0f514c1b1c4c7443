import RTP
import TestSupport
import Testing

@testable import Bitstream

@Suite("Payloads of recorded packets")
struct RecordedPayloadTests {
  @Test("the first packet of a keyframe of Chromium has a header with the size")
  func keyframe() throws {
    var packet = try RTPPacket(parsing: Fixture.bytes("rtp/vp8-keyframe-start.bin", in: .module))
    _ = try VP8PayloadDescriptor(parsing: &packet.payload)
    let header = try VP8FrameHeader(parsing: packet.payload)
    #expect(header.isKeyframe && header.isShown)
    #expect(header.size == .init(width: 640, height: 480, horizontalScale: 0, verticalScale: 0))
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
