import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("RTP packets")
struct RTPPacketTests {
  @Test(
    "every packet of Chromium is written back byte for byte",
    arguments: [
      "opus", "vp8-keyframe-start", "vp8-keyframe-middle", "vp8-frame-end", "vp8-simulcast", "vp8-two-byte-extensions",
      "rtx", "rtx-padding-only", "rtx-two-byte-extensions",
    ])
  func roundTrip(name: String) throws {
    let datagram = try Fixture.bytes("rtp/\(name).bin", in: .module)
    let packet = try RTPPacket(parsing: datagram)
    #expect(packet.byteCount == datagram.readableBytes)
    #expect(written { packet.write(into: &$0) } == datagram)
  }

  @Test("the fields of a packet are those that Wireshark shows")
  func fields() throws {
    let packet = try RTPPacket(parsing: Fixture.bytes("rtp/opus.bin", in: .module))
    #expect(packet.marker)
    #expect(packet.payloadType == 111)
    #expect(packet.sequenceNumber == 2_136)
    #expect(packet.timestamp == 1_698_807_631)
    #expect(packet.ssrc == 0x9FBD_0ABE)
    #expect(packet.contributingSources.isEmpty)
    #expect(packet.extensions.elements.map(\.id) == [2, 3, 4, 1])
    #expect(packet.payload.readableBytes == 32)
    #expect(packet.payload.getInteger(at: packet.payload.readerIndex, as: UInt16.self) == 0x780B)
    #expect(packet.paddingLength == 0)
  }

  @Test("a packet of padding alone has an empty payload")
  func paddingOnly() throws {
    let packet = try RTPPacket(parsing: Fixture.bytes("rtp/rtx-padding-only.bin", in: .module))
    #expect(packet.payload.readableBytes == 0)
    #expect(packet.paddingLength == 255)
  }

  @Test("contributing sources, extension and padding are parsed together")
  func everything() throws {
    let datagram = bytes("B2 E0 0001 00000002 00000003  0000000A 0000000B  BEDE 0001 10AA0000  010203  00000004")
    let packet = try RTPPacket(parsing: datagram)
    #expect(packet.contributingSources == [10, 11])
    #expect(packet.extensions[1] == bytes("AA"))
    #expect(packet.payload == bytes("010203"))
    #expect(packet.paddingLength == 4)
    #expect(written { packet.write(into: &$0) } == datagram)
  }

  @Test("an empty header extension is not the same as none")
  func emptyExtension() throws {
    let datagram = bytes("90 60 0001 00000002 00000003 BEDE 0000 FF")
    let packet = try RTPPacket(parsing: datagram)
    #expect(packet.extensions.isPresent)
    #expect(packet.extensions.elements.isEmpty)
    #expect(written { packet.write(into: &$0) } == datagram)
  }

  @Test("a payload type above 127 and a sixteenth source do not overflow into other fields")
  func overflowingFields() throws {
    let packet = RTPPacket(
      payloadType: 255, sequenceNumber: 1, timestamp: 2, ssrc: 3, contributingSources: Array(0..<20))
    let datagram = written { packet.write(into: &$0) }
    let read = try RTPPacket(parsing: datagram)
    #expect(!read.marker)
    #expect(read.payloadType == 127)
    #expect(read.contributingSources == Array(0..<15))
    #expect(datagram.readableBytes == packet.byteCount)
  }

  @Test("an invalid packet is rejected with a sentence that contains the numbers")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try RTPPacket(parsing: bytes(hex)) }
    }
    #expect(failure("80 60 0001 00000002 00") == "An RTP header needs 12 bytes, but only 9 arrived.")
    #expect(failure("") == "An RTP header needs 12 bytes, but none arrived.")
    #expect(
      failure("40 60 0001 00000002 00000003") == "An RTP packet must be of version 2, but this one is of version 1.")
    #expect(
      failure("82 60 0001 00000002 00000003 00000004")
        == "An RTP header's list of 2 contributing sources needs 8 bytes, but only 4 arrived.")
    #expect(
      failure("90 60 0001 00000002 00000003 BEDE") == "An RTP header extension needs 4 bytes, but only 2 arrived.")
    #expect(
      failure("90 60 0001 00000002 00000003 BEDE 0002 10AA0000")
        == "An RTP header extension of 2 words needs 12 bytes, but only 8 arrived.")
    #expect(
      failure("A0 60 0001 00000002 00000003 0102 05")
        == "An RTP packet announces 5 bytes of padding, but 3 bytes could be padding.")
    #expect(
      failure("A0 60 0001 00000002 00000003 0102 00")
        == "An RTP packet announces 0 bytes of padding, but 3 bytes could be padding.")
    #expect(
      failure("A0 60 0001 00000002 00000003")
        == "An RTP packet announces 0 bytes of padding, but 0 bytes could be padding.")
  }
}
