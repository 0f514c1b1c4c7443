import Media
import Testing

@Suite("The table of codecs")
struct CodecPropertiesTests {
  @Test("each codec is distinguished by its name in SDP, in files and by its payload types")
  func distinct() {
    let rows = Codec.allCases.map(\.properties)
    #expect(Set(rows.map { $0.encodingName.lowercased() }).count == rows.count)
    // G.711 and G.722 have one name, and are told apart by their private data.
    let names = rows.map(\.matroskaID)
    #expect(Set(names).count == names.count - 2 && names.count { $0 == "A_MS/ACM" } == 3)
    #expect(Set(rows.compactMap(\.fourCC)).count == rows.compactMap(\.fourCC).count)
    let payloadTypes = rows.flatMap { row in
      row.formats.flatMap { [$0.payloadType, $0.retransmissionPayloadType].compactMap(\.self) }
        + [row.redundancyPayloadType].compactMap(\.self)
    }
    #expect(Set(payloadTypes).count == payloadTypes.count)
  }

  @Test(
    "its payload types are dynamic, or static ones of RFC 3551, and never those of RTCP (RFC 5761, 4)",
    arguments: Codec.allCases)
  func payloadTypes(of codec: Codec) {
    #expect(!codec.properties.formats.isEmpty)
    for format in codec.properties.formats {
      #expect((0...34).contains(format.payloadType) || (96...127).contains(format.payloadType))
      #expect(format.retransmissionPayloadType.map { (96...127).contains($0) } ?? true)
    }
  }

  @Test("a codec has the properties of its kind", arguments: Codec.allCases)
  func kind(of codec: Codec) {
    #expect(Codec.all(of: codec.kind).contains(codec))
    #expect((codec.properties.sampleRate != nil) == (codec.kind == .audio))
    #expect(codec.properties.feedback.contains("nack pli") == (codec.kind == .video))
    #expect(codec.kind == .audio || codec.clockRate == 90_000, "the clock of video (RFC 3551, 5)")
  }

  @Test("the preferred codec of a kind is of that kind", arguments: MediaKind.allCases)
  func preferred(for kind: MediaKind) {
    #expect(Codec.preferred(for: kind).kind == kind)
  }
}
