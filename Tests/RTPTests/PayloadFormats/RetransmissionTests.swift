import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Retransmissions")
struct RetransmissionTests {
  @Test("a retransmission of Chromium contains the lost packet")
  func chromium() throws {
    let packet = try RTPPacket(parsing: Fixture.bytes("rtp/rtx.bin", in: .module))
    let original = try #require(Retransmission.unwrap(packet, payloadType: 96, ssrc: 0x6303_920E))
    #expect(original.sequenceNumber == 0x0AB3)
    #expect(original.payloadType == 96)
    #expect(original.ssrc == 0x6303_920E)
    #expect(original.timestamp == 3_327_425_042)
    #expect(original.marker)
    var payload = original.payload
    // The last packet of the keyframe whose first two packets are fixtures too.
    #expect(try VP8PayloadDescriptor(parsing: &payload).pictureID == .init(0x25DC))
  }

  @Test("padding with which a browser probes the bandwidth contains no packet")
  func padding() throws {
    let packet = try RTPPacket(parsing: Fixture.bytes("rtp/rtx-padding-only.bin", in: .module))
    #expect(Retransmission.unwrap(packet, payloadType: 96, ssrc: 1) == nil)
    var single = packet
    single.payload = bytes("01")
    #expect(Retransmission.unwrap(single, payloadType: 96, ssrc: 1) == nil)
  }

  @Test("unwrapping a wrapped packet returns the original")
  func roundTrip() throws {
    let original = try RTPPacket(parsing: Fixture.bytes("rtp/vp8-frame-end.bin", in: .module))
    let wrapped = Retransmission.wrap(original, payloadType: 97, ssrc: 5, sequenceNumber: 1_000)
    #expect(wrapped.payloadType == 97)
    #expect(wrapped.ssrc == 5)
    #expect(wrapped.sequenceNumber == 1_000)
    #expect(wrapped.timestamp == original.timestamp)
    #expect(wrapped.byteCount == original.byteCount + Retransmission.overhead)
    let sent = try RTPPacket(parsing: written { wrapped.write(into: &$0) })
    #expect(Retransmission.unwrap(sent, payloadType: 96, ssrc: original.ssrc) == original)
  }

  @Test("the padding of the original is not retransmitted")
  func dropsPadding() throws {
    var original = try RTPPacket(parsing: Fixture.bytes("rtp/opus.bin", in: .module))
    original.paddingLength = 8
    let wrapped = Retransmission.wrap(original, payloadType: 97, ssrc: 5, sequenceNumber: 1)
    #expect(wrapped.paddingLength == 0)
    #expect(wrapped.payload.readableBytes == original.payload.readableBytes + 2)
  }
}
