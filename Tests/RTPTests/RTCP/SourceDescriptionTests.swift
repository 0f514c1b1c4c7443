import Bitstream
import NIOCore
import RTP
import Testing

@Suite("Source descriptions and goodbyes")
struct SourceDescriptionTests {
  @Test(
    "each chunk ends with one to four zeros",
    arguments: [
      ("a", "81CA0002 00000001 01016100"),
      ("ab", "81CA0003 00000001 01026162 00000000"),
      ("abc", "81CA0003 00000001 01036162 63000000"),
      ("abcd", "81CA0003 00000001 01046162 63640000"),
      ("abcde", "81CA0003 00000001 01056162 63646500"),
      ("", "81CA0002 00000001 01000000"),
    ])
  func padding(name: String, hex: String) throws {
    let description = SourceDescription(ssrc: 1, cname: name)
    #expect(try onlyPacket(bytes(hex)) == .sourceDescription(description))
    #expect(written { description.write(into: &$0) } == bytes(hex))
    #expect(description.chunks[0].cname == name)
  }

  @Test("several chunks with known and unknown items are parsed and written back")
  func severalChunks() throws {
    let packet = try onlyPacket(
      bytes("83CA000A 00000001 010161 08086262626262626262 000000 00000002 00000000 00000003 08020161 010163 00"))
    guard case .sourceDescription(let description) = packet else { return #expect(Bool(false)) }
    #expect(description.chunks.map(\.ssrc) == [1, 2, 3])
    #expect(description.chunks[0].items.map(\.text) == ["a", "bbbbbbbb"])
    #expect(description.chunks[1].items.isEmpty)
    #expect(description.chunks[1].cname == nil)
    #expect(description.chunks[2].items.map(\.type) == [8, 1])
    #expect(description.chunks[2].cname == "c")
  }

  @Test("a list of items without an end, or an item or chunk that is cut off, is rejected")
  func noEnd() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try RTCPPacket.parse(compound: bytes(hex)) }
    }
    #expect(
      failure("81CA0002 00000001 01026162")
        == "A source description's list of items needs 9 bytes, but only 8 arrived.")
    #expect(
      failure("81CA0002 00000001 01096162")
        == "A source description's item of type 1 needs 11 bytes, but only 4 arrived.")
    #expect(
      failure("81CA0002 00000001 01006101")
        == "A source description's item of type 97 needs 3 bytes, but only 2 arrived.")
    #expect(failure("82CA0002 00000001 01016100") == "A source description's chunk needs 4 bytes, but none arrived.")
  }

  @Test("a text longer than 255 bytes is truncated, and an item of type 0 is not written")
  func limits() throws {
    let description = SourceDescription(chunks: [
      .init(
        ssrc: 1,
        items: [
          .init(type: 0, value: bytes("AA")),
          .init(type: 1, value: ByteBuffer(repeating: UInt8(ascii: "x"), count: 300)),
        ])
    ])
    let packet = try onlyPacket(written { description.write(into: &$0) })
    #expect(packet == .sourceDescription(SourceDescription(ssrc: 1, cname: String(repeating: "x", count: 255))))
  }

  @Test("more than 31 chunks continue in another packet")
  func manyChunks() throws {
    let chunks = (0..<40).map { SourceDescription.Chunk(ssrc: $0, items: []) }
    let packets = try RTCPPacket.parse(
      compound: written { SourceDescription(chunks: chunks).write(into: &$0) })
    #expect(
      packets == [
        .sourceDescription(SourceDescription(chunks: Array(chunks[..<31]))),
        .sourceDescription(SourceDescription(chunks: Array(chunks[31...]))),
      ])
  }

  @Test(
    "a goodbye may name sources, a reason, both or neither",
    arguments: [
      ("80CB0000", Goodbye(sources: [])),
      ("82CB0002 00000001 00000002", Goodbye(sources: [1, 2])),
      ("81CB0002 00000001 03627965", Goodbye(sources: [1], reason: "bye")),
      ("81CB0003 00000001 04676F6E 65000000", Goodbye(sources: [1], reason: "gone")),
      ("80CB0001 00000000", Goodbye(sources: [], reason: "")),
    ])
  func goodbye(hex: String, expected: Goodbye) throws {
    #expect(try onlyPacket(bytes(hex)) == .goodbye(expected))
  }

  @Test("a long reason is truncated at a character")
  func longReason() throws {
    let goodbye = Goodbye(sources: [1], reason: String(repeating: "é", count: 200))
    #expect(
      try onlyPacket(written { goodbye.write(into: &$0) })
        == .goodbye(Goodbye(sources: [1], reason: String(repeating: "é", count: 127))))
  }

  @Test("an invalid UTF-8 reason is repaired and has at most 255 bytes")
  func brokenReason() throws {
    let raw = ByteBuffer(bytes: [0x80, 203, 0, 64, 255] + [UInt8](repeating: 0xFF, count: 255))
    let goodbye = Goodbye(sources: [], reason: String(repeating: "\u{FFFD}", count: 85))
    #expect(try RTCPPacket.parse(compound: raw) == [.goodbye(goodbye)])
    #expect(try onlyPacket(written { goodbye.write(into: &$0) }) == .goodbye(goodbye))
  }

  @Test("more than 31 sources need several goodbye packets, and the last contains the reason")
  func manySources() throws {
    let goodbye = Goodbye(sources: Array(0..<32), reason: "end")
    #expect(
      try RTCPPacket.parse(compound: written { goodbye.write(into: &$0) })
        == [.goodbye(Goodbye(sources: Array(0..<31))), .goodbye(Goodbye(sources: [31], reason: "end"))])
  }
}
