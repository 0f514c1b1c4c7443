import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Demultiplexing of datagrams")
struct PacketKindTests {
  @Test("the range of the first byte determines the protocol")
  func firstByte() {
    for byte in UInt8.min...UInt8.max {
      let expected: PacketKind =
        switch byte {
        case 0...3: .stun
        case 20...63: .dtls
        case 128...191: .rtp
        default: .unknown
        }
      #expect(PacketKind.of(firstByte: byte, secondByte: 96) == expected)
    }
  }

  @Test("an RTCP packet type in the second byte distinguishes RTCP from RTP")
  func secondByte() {
    for byte in UInt8.min...UInt8.max {
      let expected: PacketKind = (192...223).contains(byte) ? .rtcp : .rtp
      #expect(PacketKind.of(firstByte: 0x80, secondByte: byte) == expected)
    }
  }

  @Test("a datagram that is too short is unknown")
  func short() {
    #expect(PacketKind.of(ByteBuffer()) == .unknown)
    #expect(PacketKind.of(bytes("80")) == .unknown)
    #expect(PacketKind.of(bytes("00")) == .stun)
  }

  @Test("packets of Chromium are recognised")
  func fixtures() throws {
    #expect(PacketKind.of(try Fixture.bytes("rtp/opus.bin", in: .module)) == .rtp)
    #expect(PacketKind.of(try Fixture.bytes("rtp/vp8-frame-end.bin", in: .module)) == .rtp)
    #expect(PacketKind.of(try Fixture.bytes("rtcp/sender-report.bin", in: .module)) == .rtcp)
    #expect(PacketKind.of(try Fixture.bytes("rtcp/nack.bin", in: .module)) == .rtcp)
  }
}
