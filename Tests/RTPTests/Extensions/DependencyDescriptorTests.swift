import Bitstream
import NIOCore
import RTP
import Testing

@Suite("Dependency descriptors")
struct DependencyDescriptorTests {
  /// Writes bits, the most significant one of each byte first.
  private struct Bits {
    private var bits: [UInt8] = []

    mutating func write(_ value: Int, _ count: Int) {
      for position in (0..<count).reversed() { bits.append(UInt8(value >> position & 1)) }
    }

    var bytes: ByteBuffer {
      var padded = bits
      while padded.count % 8 != 0 { padded.append(0) }
      return ByteBuffer(
        bytes: stride(from: 0, to: padded.count, by: 8).map { start in
          padded[start..<start + 8].reduce(0) { $0 << 1 | $1 }
        })
    }
  }

  /// The first packet of a keyframe of one spatial and two temporal layers (L1T2), with a structure as libwebrtc writes it: templates
  /// for a keyframe, for layer 0 and for layer 1, two decode targets and one chain.
  private static func keyframe(number: Int) -> ByteBuffer {
    var bits = Bits()
    // start_of_frame, end_of_frame, frame_dependency_template_id, frame_number.
    bits.write(0b10, 2)
    bits.write(60, 6)
    bits.write(number, 16)
    // A structure, and nothing else.
    bits.write(0b10000, 5)
    // template_id_offset, dt_cnt_minus_one.
    bits.write(60, 6)
    bits.write(1, 5)
    // Layers: same, next temporal, end.
    bits.write(0b00_01_11, 6)
    // Indications: SS, SS, -D.
    bits.write(0b1010_1010_0001, 12)
    // Differences: none, 2, 1.
    bits.write(0, 1)
    bits.write(0b1_0001_0, 6)
    bits.write(0b1_0000_0, 6)
    // One chain of at most two: ns(3) of 1 has two bits. It protects both decode targets: ns(1) has none.
    bits.write(0b10, 2)
    bits.write(0, 4)
    bits.write(2, 4)
    bits.write(1, 4)
    // One resolution.
    bits.write(1, 1)
    bits.write(639, 16)
    bits.write(359, 16)
    return bits.bytes
  }

  @Test("a keyframe brings templates, decode targets, chains and sizes")
  func structure() throws {
    let descriptor = try DependencyDescriptor(parsing: Self.keyframe(number: 0x1234), structure: nil)
    #expect(descriptor.startsFrame && !descriptor.endsFrame)
    #expect(descriptor.frameNumber == 0x1234)
    #expect(descriptor.activeDecodeTargets == 0b11)
    #expect(descriptor.dependencies.frameDifferences.isEmpty)
    let structure = try #require(descriptor.structure)
    #expect(structure.templateIDOffset == 60)
    #expect(structure.decodeTargets == 2)
    #expect(structure.templates.map(\.temporalLayer) == [0, 0, 1])
    #expect(structure.templates.map(\.spatialLayer) == [0, 0, 0])
    #expect(structure.templates.map(\.frameDifferences) == [[], [2], [1]])
    #expect(
      structure.templates.map(\.indications) == [
        [.switching, .switching], [.switching, .switching], [.notPresent, .discardable],
      ])
    #expect(structure.chains == 1)
    #expect(structure.protectingChains == [0, 0])
    #expect(structure.templates.map(\.chainDifferences) == [[0], [2], [1]])
    #expect(structure.resolutions == [.init(width: 640, height: 360)])
  }

  @Test("later frames name a template, whose ids wrap, and may have differences of their own")
  func frames() throws {
    let structure = try #require(try DependencyDescriptor(parsing: Self.keyframe(number: 1), structure: nil).structure)
    // Template 62 is the third.
    let upper = try DependencyDescriptor(
      parsing: ByteBuffer(bytes: [0xC0 | 62, 0, 2]), structure: structure)
    #expect(upper.startsFrame && upper.endsFrame)
    #expect(upper.dependencies.temporalLayer == 1)
    #expect(upper.dependencies.frameDifferences == [1])
    #expect(upper.structure == nil && upper.activeDecodeTargets == nil)

    var bits = Bits()
    bits.write(0b01, 2)
    bits.write(61, 6)
    bits.write(9, 16)
    // Active decode targets, indications, differences and chains of its own.
    bits.write(0b01111, 5)
    bits.write(0b01, 2)
    bits.write(0b11_00, 4)
    // Differences of 4, 8 and 12 bits: 3, 200 and 4,000.
    bits.write(0b01, 2)
    bits.write(2, 4)
    bits.write(0b10, 2)
    bits.write(199, 8)
    bits.write(0b11, 2)
    bits.write(3_999, 12)
    bits.write(0, 2)
    bits.write(7, 8)
    let own = try DependencyDescriptor(parsing: bits.bytes, structure: structure)
    #expect(!own.startsFrame && own.endsFrame)
    #expect(own.activeDecodeTargets == 1)
    #expect(own.dependencies.indications == [.required, .notPresent])
    #expect(own.dependencies.frameDifferences == [3, 200, 4_000])
    #expect(own.dependencies.chainDifferences == [7])
  }

  @Test("a descriptor is refused that is cut, whose template is unknown, or with more than 64 templates")
  func refused() throws {
    let whole = Self.keyframe(number: 1)
    for length in 0..<whole.readableBytes {
      let part = try #require(whole.getSlice(at: whole.readerIndex, length: length))
      #expect(throws: ParseError.self) { try DependencyDescriptor(parsing: part, structure: nil) }
    }
    #expect(throws: ParseError.self) {
      try DependencyDescriptor(parsing: ByteBuffer(bytes: [0xC0, 0, 2]), structure: nil)
    }
    let structure = try #require(try DependencyDescriptor(parsing: whole, structure: nil).structure)
    #expect(throws: ParseError.self) {
      try DependencyDescriptor(parsing: ByteBuffer(bytes: [0xC0 | 63, 0, 2]), structure: structure)
    }
    // Layers that never end.
    #expect(throws: ParseError.self) {
      try DependencyDescriptor(
        parsing: ByteBuffer(bytes: [0x80, 0, 0, 0x80] + [UInt8](repeating: 0, count: 200)), structure: nil)
    }
  }
}
