import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("H.265 payloads")
struct H265PayloadTests {
  private func payload(_ bytes: [UInt8]) throws -> H265Payload { try H265Payload(parsing: ByteBuffer(bytes: bytes)) }

  @Test("a payload is one NAL unit, several, or a part of one")
  func kinds() throws {
    guard case .unit(let unit) = try payload([0x02, 0x01, 0xD0]) else {
      Issue.record("This is no NAL unit.")
      return
    }
    #expect(unit.type.rawValue == 1 && unit.temporalIDPlus1 == 1)
    // An aggregation packet with a sequence and a picture parameter set.
    guard case .aggregation(let units) = try payload([0x60, 0x01, 0, 3, 0x42, 1, 7, 0, 2, 0x44, 1]) else {
      Issue.record("This is no aggregation packet.")
      return
    }
    #expect(units.map(\.type) == [.sequenceParameterSet, .pictureParameterSet])
    #expect(units.map { Array($0.bytes.readableBytesView) } == [[0x42, 1, 7], [0x44, 1]])
    let fragment = H265Payload.Fragment(
      header: 0x2602, isFirst: true, isLast: false, bytes: ByteBuffer(bytes: [0xAC, 9]))
    #expect(try payload([0x62, 0x02, 0x93, 0xAC, 9]) == .fragment(fragment))
    #expect(fragment.type == .idr && fragment.layerID == 0)
  }

  @Test("control information, undefined types and broken lengths are refused")
  func refused() {
    let payloads: [[UInt8]] = [
      // PACI, undefined types.
      [0x64, 1, 0, 0, 1], [0x66, 1, 1], [0x7E, 1, 1],
      // The F bit, and no temporal sub-layer: in a unit and in one of several.
      [0x82, 1, 1], [0x02, 0, 1], [0x60, 1, 0, 2, 0xC2, 1], [0x60, 1, 0, 2, 0x42, 0], [0x60, 0, 0, 2, 0x42, 1],
      // Nothing in an aggregation packet, a length beyond it, lengths below 2, an aggregation within.
      [0x60, 1], [0x60, 1, 0], [0x60, 1, 0, 5, 0x42, 1], [0x60, 1, 0, 0], [0x60, 1, 0, 1, 0x42],
      [0x60, 1, 0, 2, 0x60, 1],
      // Fragments without a header, or of what is no NAL unit.
      [0x62, 1], [0x62, 1, 0xB0, 1], [0x62, 1, 0xB1, 1], [0x02], [],
    ]
    for bytes in payloads {
      #expect(throws: ParseError.self, "\(bytes)") { try payload(bytes) }
    }
  }

  private static func unit(_ type: UInt8, _ size: Int, temporalID: UInt8 = 1) -> ByteBuffer {
    ByteBuffer(bytes: [type << 1, temporalID] + (2..<max(2, size)).map { UInt8(truncatingIfNeeded: $0) })
  }

  @Test("parameter sets and SEI share a payload, and a large slice is split into fragments of about equal size")
  func packetizer() throws {
    let units = [
      Self.unit(32, 20), Self.unit(33, 30), Self.unit(34, 5), Self.unit(39, 30), Self.unit(19, 2_500),
      Self.unit(19, 40),
    ]
    var frame = ByteBuffer()
    for unit in units { NALUnits.append(unit, to: &frame) }
    let payloads = H265Packetizer(maximumPayloadSize: 1_000).packetize(frame: frame)
    #expect(payloads.map(\.readableBytes) == [2 + 22 + 32 + 7 + 32, 835, 836, 836, 40])
    #expect(
      payloads.map { $0.getInteger(at: $0.readerIndex, as: UInt16.self) } == [0x6001, 0x6201, 0x6201, 0x6201, 0x2601])
    #expect(payloads[1...3].map { $0.getInteger(at: $0.readerIndex + 2, as: UInt8.self) } == [0x93, 0x13, 0x53])
    #expect(try joined(payloads) == units)
  }

  @Test("an aggregation packet has the lowest temporal sub-layer of its units")
  func aggregation() {
    var frame = ByteBuffer()
    for unit in [Self.unit(39, 9, temporalID: 3), Self.unit(40, 9, temporalID: 2)] { NALUnits.append(unit, to: &frame) }
    let payloads = H265Packetizer(maximumPayloadSize: 100).packetize(frame: frame)
    #expect(payloads.map { $0.getInteger(at: $0.readerIndex, as: UInt16.self) } == [0x6002])
  }

  @Test("whatever its size, a frame is whole again after it was split", arguments: [16, 100, 1_200])
  func sizes(limit: Int) throws {
    var generator = SeededGenerator(seed: UInt64(limit))
    for _ in 0..<200 {
      let count = Int.random(in: 1...6, using: &generator)
      let units = (0..<count).map { _ in
        let type: UInt8 = [32, 33, 34, 39, 0, 1, 8, 19, 21, 40].randomElement(using: &generator) ?? 1
        return Self.unit(
          type, Int.random(in: 2...3_000, using: &generator), temporalID: UInt8.random(in: 1...7, using: &generator))
      }
      var frame = ByteBuffer()
      for unit in units { NALUnits.append(unit, to: &frame) }
      let payloads = H265Packetizer(maximumPayloadSize: limit).packetize(frame: frame)
      #expect(payloads.allSatisfy { $0.readableBytes <= limit })
      #expect(try joined(payloads) == units)
    }
  }

  @Test("a frame that is no sequence of NAL units has the payloads of those before its end")
  func broken() {
    let packetizer = H265Packetizer(maximumPayloadSize: 100)
    #expect(packetizer.packetize(frame: ByteBuffer()).isEmpty)
    #expect(packetizer.packetize(frame: ByteBuffer(bytes: [0, 0, 0, 3, 0x02, 0x01, 0xD0, 0, 0])).count == 1)
    // What only the payload format defines cannot be a NAL unit.
    #expect(packetizer.packetize(frame: ByteBuffer(bytes: [0, 0, 0, 3, 0x62, 0x01, 0x93])).isEmpty)
  }

  private func joined(_ payloads: [ByteBuffer]) throws -> [ByteBuffer] {
    var units: [ByteBuffer] = []
    var open = ByteBuffer()
    for payload in payloads {
      switch try H265Payload(parsing: payload) {
      case .unit(let unit): units.append(unit.bytes)
      case .aggregation(let several): units += several.map(\.bytes)
      case .fragment(let fragment):
        if fragment.isFirst { open = ByteBuffer(integer: fragment.header) }
        open.writeImmutableBuffer(fragment.bytes)
        if fragment.isLast { units.append(open) }
      }
    }
    return units
  }
}
