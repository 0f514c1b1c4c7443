import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Compound RTCP packets")
struct RTCPCompoundTests {
  @Test(
    "every compound packet of Chromium is written back byte for byte",
    arguments: [
      "extended-report", "nack", "nack-remb", "picture-loss", "picture-loss-remb", "receiver-report-nack-rrtr",
      "receiver-report-remb-rrtr", "receiver-report-rrtr", "sender-report", "sender-report-dlrr",
      "transport-feedback", "transport-feedback-vector",
    ])
  func roundTrip(name: String) throws {
    let datagram = try Fixture.bytes("rtcp/\(name).bin", in: .module)
    let packets = try RTCPPacket.parse(compound: datagram)
    #expect(written { RTCPPacket.write(packets, into: &$0) } == datagram)
    #expect(packets.allSatisfy { if case .unknown = $0 { false } else { true } })
  }

  @Test("all RTCP of three calls is understood and written back byte for byte")
  func wholeCalls() throws {
    let lines = try Fixture.text("rtcp/three-calls.hex", in: .module).split(separator: "\n")
    #expect(lines.count == 466)
    for line in lines {
      let datagram = bytes(String(line))
      let packets = try RTCPPacket.parse(compound: datagram)
      #expect(written { RTCPPacket.write(packets, into: &$0) } == datagram)
      #expect(packets.allSatisfy { if case .unknown = $0 { false } else { true } })
    }
  }

  @Test("packets of unsupported types are kept as received")
  func unknown() throws {
    // APP with subtype 3; feedback of an unknown format; application layer feedback that is not REMB.
    for hex in ["83CC0002 00000001 41424344", "8ACD0002 00000001 00000002", "8FCE0003 00000001 00000002 41424344"] {
      guard case .unknown(let type, let count, let body) = try onlyPacket(bytes(hex)) else {
        Issue.record("\(hex) is not unknown")
        continue
      }
      #expect(type == bytes(hex).getInteger(at: 1))
      #expect(count == bytes(hex).getInteger(at: 0, as: UInt8.self).map { $0 & 0x1F })
      #expect(body.readableBytes == bytes(hex).readableBytes - 4)
    }
  }

  @Test("padding is not part of a packet's body")
  func padding() throws {
    let packets = try RTCPPacket.parse(compound: bytes("A1CB0002 00000007 00000004"))
    #expect(packets == [.goodbye(Goodbye(sources: [7]))])
  }

  @Test("a reduced-size packet need not begin with a report")
  func reducedSize() throws {
    #expect(
      try onlyPacket(bytes("81CE0002 00000001 6303920E"))
        == .pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 0x6303_920E)))
  }

  @Test("an invalid compound packet is rejected with a sentence that contains the numbers")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try RTCPPacket.parse(compound: bytes(hex)) }
    }
    #expect(failure("") == "An RTCP header needs 4 bytes, but none arrived.")
    #expect(failure("80C9") == "An RTCP header needs 4 bytes, but only 2 arrived.")
    #expect(failure("00C90001 00000001") == "An RTCP packet must be of version 2, but this one is of version 0.")
    #expect(failure("80C90002 00000001") == "An RTCP packet of type 201 needs 12 bytes, but only 8 arrived.")
    #expect(
      failure("A0C90001 00000005")
        == "An RTCP packet of type 201 announces 5 bytes of padding, but 4 bytes could be padding.")
    #expect(failure("80C90001 00000001 80") == "An RTCP header needs 4 bytes, but only 1 arrived.")
    #expect(failure("81C90001 00000001") == "A receiver report of 1 blocks needs 24 bytes, but none arrived.")
    #expect(failure("80C80001 00000001") == "A sender report's body needs 24 bytes, but only 4 arrived.")
    #expect(failure("81CD0001 00000001") == "A NACK's body needs 8 bytes, but only 4 arrived.")
    #expect(failure("81CE0001 00000001") == "A picture loss indication's body needs 8 bytes, but only 4 arrived.")
    #expect(failure("84CE0001 00000001") == "A full intra request's body needs 8 bytes, but only 4 arrived.")
    #expect(failure("80CF0000") == "An extended report's body needs 4 bytes, but none arrived.")
    #expect(
      failure("80CF0002 00000001 04000002")
        == "An extended report's block of type 4 needs 12 bytes, but only 4 arrived.")
    #expect(failure("82CB0001 00000001") == "A goodbye of 2 sources needs 8 bytes, but only 4 arrived.")
    #expect(failure("81CB0002 00000001 05414243") == "A goodbye's reason needs 6 bytes, but only 4 arrived.")
    #expect(
      failure("8FCE0004 00000001 00000000 52454D42 01000000")
        == "A maximum bitrate estimate for 1 sources needs 20 bytes, but only 16 arrived.")
  }

  @Test("a datagram of the maximum UDP size is parsed whole")
  func largest() throws {
    let packets = Array(
      repeating: RTCPPacket.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
      count: 65_507 / 12)
    let datagram = written { RTCPPacket.write(packets, into: &$0) }
    #expect(datagram.readableBytes == 65_507 / 12 * 12)
    #expect(try RTCPPacket.parse(compound: datagram) == packets)
  }

  @Test("a packet that is too long for its length field is left out, and the others are written")
  func tooLong() throws {
    let fitting = RTCPPacket.unknown(type: 204, count: 0, body: ByteBuffer(repeating: 1, count: 4 * 65_535))
    let tooLong = RTCPPacket.unknown(type: 204, count: 0, body: ByteBuffer(repeating: 1, count: 4 * 65_535 + 1))
    let last = RTCPPacket.goodbye(Goodbye(sources: [1]))
    let datagram = written { RTCPPacket.write([fitting, tooLong, last], into: &$0) }
    #expect(try RTCPPacket.parse(compound: datagram) == [fitting, last])
  }

  @Test(
    "a body that is not a multiple of four bytes is padded, and parsed with its original length",
    arguments: [
      ("01020304", "81CC0001 01020304"), ("010203", "A1CC0001 01020301"), ("0102", "A1CC0001 01020002"),
      ("01", "A1CC0001 01000003"), ("", "81CC0000"),
    ])
  func padsToWords(body: String, datagram: String) throws {
    let packet = RTCPPacket.unknown(type: 204, count: 1, body: bytes(body))
    #expect(written { packet.write(into: &$0) } == bytes(datagram))
    #expect(try onlyPacket(bytes(datagram)) == packet)
  }
}
