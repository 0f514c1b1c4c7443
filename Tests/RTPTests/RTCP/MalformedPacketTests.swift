import Bitstream
import NIOCore
import RTP
import Testing

@Suite("Malformed packets of a compound")
struct MalformedPacketTests {
  /// A datagram with a single packet, whose length is possible and whose content is not.
  struct Malformed: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let hex: String

    init(_ description: String, _ hex: String) {
      testDescription = description
      self.hex = hex
    }
  }

  static let malformed = [
    Malformed("version 0", "00C90001 00000001"),
    Malformed("version 1", "41CB0001 00000001"),
    Malformed("version 3", "C1CE0002 00000001 00000002"),
    Malformed("more padding than body", "A0C90001 00000005"),
    Malformed("padding of no bytes", "A0C90001 00000000"),
    Malformed("padding without a body", "A0CC0000"),
    Malformed("a sender report that is too short", "80C80001 00000001"),
    Malformed(
      "a sender report without its block", "81C80006 00000001 00000002 00000003 00000004 00000005 00000006"),
    Malformed("a receiver report without a source", "80C90000"),
    Malformed("a receiver report without its block", "81C90001 00000001"),
    Malformed("a source description without its chunk", "82CA0002 00000001 01016100"),
    Malformed("a source description without an end", "81CA0002 00000001 01026162"),
    Malformed("a source description with an item that is too long", "81CA0002 00000001 01096162"),
    Malformed("a goodbye without its sources", "82CB0001 00000001"),
    Malformed("a goodbye with a reason that is too long", "81CB0002 00000001 05414243"),
    Malformed("a NACK that is too short", "81CD0001 00000001"),
    Malformed("transport feedback that is too short", "8FCD0003 00000001 00000002 00010003"),
    Malformed("transport feedback without its chunks", "8FCD0004 00000001 00000002 00010003 00000100"),
    Malformed("transport feedback without its deltas", "8FCD0005 00000001 00000002 00010003 00000100 20030101"),
    Malformed("transport feedback with a reserved status", "8FCD0005 00000001 00000002 00010003 00000100 60030101"),
    Malformed("a picture loss indication that is too short", "81CE0001 00000001"),
    Malformed("a full intra request that is too short", "84CE0001 00000001"),
    Malformed("a maximum bitrate without its sources", "8FCE0004 00000001 00000000 52454D42 01000000"),
    Malformed("an extended report without a source", "80CF0000"),
    Malformed("an extended report with a block that is too long", "80CF0002 00000001 04000002"),
  ]

  static let valid: [RTCPPacket] = [
    .receiverReport(ReceiverReport(ssrc: 7, reports: [])),
    .sourceDescription(SourceDescription(ssrc: 7, cname: "a")),
    .unknown(type: 204, count: 3, body: bytes("00000007 41424344")),
    .pictureLossIndication(PictureLossIndication(senderSSRC: 7, mediaSSRC: 8)),
  ]

  /// Returns a compound packet with something between its packets.
  private func datagram(with inserted: ByteBuffer, at position: Int) -> ByteBuffer {
    written { buffer in
      RTCPPacket.write(Array(Self.valid[..<position]), into: &buffer)
      buffer.writeImmutableBuffer(inserted)
      RTCPPacket.write(Array(Self.valid[position...]), into: &buffer)
    }
  }

  @Test("a malformed packet costs only itself, wherever it is", arguments: malformed)
  func skipped(packet: Malformed) {
    for position in 0...Self.valid.count {
      let compound = RTCPCompound(parsing: datagram(with: bytes(packet.hex), at: position))
      #expect(compound.packets == Self.valid, "at \(position)")
      #expect(compound.packetsSkipped == 1)
      #expect(compound.firstError == RTCPCompound(parsing: bytes(packet.hex)).firstError)
      #expect(compound.firstError != nil)
    }
  }

  @Test("a packet longer than the rest of the datagram costs what follows", arguments: ["80C9FFFF", "00C9FFFF"])
  func impossibleLength(hex: String) {
    for position in 0...Self.valid.count {
      let compound = RTCPCompound(parsing: datagram(with: bytes(hex), at: position))
      #expect(compound.packets == Array(Self.valid[..<position]))
      #expect(compound.packetsSkipped == 1)
    }
  }

  @Test("bytes that are less than a header are one malformed packet", arguments: ["80", "80C9", "80C900"])
  func cutHeader(hex: String) {
    let compound = RTCPCompound(parsing: datagram(with: bytes(hex), at: Self.valid.count))
    #expect(compound.packets == Self.valid)
    #expect(compound.packetsSkipped == 1)
  }

  @Test("each malformed packet is counted, and the error is that of the first")
  func allMalformed() {
    let datagram = written { buffer in
      for packet in Self.malformed { buffer.writeImmutableBuffer(bytes(packet.hex)) }
    }
    let compound = RTCPCompound(parsing: datagram)
    #expect(compound.packets.isEmpty)
    #expect(compound.packetsSkipped == Self.malformed.count)
    #expect(compound.firstError?.description == "An RTCP packet must be of version 2, but this one is of version 0.")
  }

  @Test("an empty datagram is malformed, and a valid one has no error")
  func ends() {
    #expect(RTCPCompound(parsing: ByteBuffer()).packetsSkipped == 1)
    let whole = RTCPCompound(parsing: written { RTCPPacket.write(Self.valid, into: &$0) })
    #expect(whole.packets == Self.valid)
    #expect(whole.packetsSkipped == 0)
    #expect(whole.firstError == nil)
  }
}
