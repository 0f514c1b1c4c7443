import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("H.264 payloads")
struct H264PayloadTests {
  private func payload(_ bytes: [UInt8]) throws -> H264Payload { try H264Payload(parsing: ByteBuffer(bytes: bytes)) }

  @Test("a payload is one NAL unit, several, or a part of one")
  func kinds() throws {
    guard case .unit(let unit) = try payload([0x41, 0x9A, 1]) else {
      Issue.record("This is no NAL unit.")
      return
    }
    #expect(unit.type == .slice && unit.referenceIDC == 2)
    // STAP-A with a sequence and a picture parameter set.
    guard case .aggregation(let units) = try payload([0x78, 0, 2, 0x67, 1, 0, 3, 0x68, 2, 3]) else {
      Issue.record("This is no aggregation packet.")
      return
    }
    #expect(units.map(\.type) == [.sequenceParameterSet, .pictureParameterSet])
    #expect(units.map { Array($0.bytes.readableBytesView) } == [[0x67, 1], [0x68, 2, 3]])
    let fragment = H264Payload.Fragment(
      header: 0x65, isFirst: true, isLast: false, bytes: ByteBuffer(bytes: [0x88, 9]))
    #expect(try payload([0x7C, 0x85, 0x88, 9]) == .fragment(fragment))
    #expect(fragment.type == .idrSlice && fragment.referenceIDC == 3)
  }

  @Test("structures of mode 2, undefined types and broken lengths are refused")
  func refused() {
    let payloads: [[UInt8]] = [
      // Undefined types, STAP-B, MTAP, FU-B.
      [0x00, 1], [0x1E, 1], [0x1F, 1], [0x19, 0, 1, 0, 1, 0x65], [0x1A, 1, 2, 3], [0x1B, 1, 2, 3],
      [0x1D, 0x85, 0, 1, 2],
      // The F bit, in a unit and in one of several.
      [0xC1, 1], [0x78, 0, 2, 0xE7, 1],
      // Nothing in an aggregation packet, a length beyond it, a length of 0, an aggregation within.
      [0x78], [0x78, 0], [0x78, 0, 5, 0x67, 1], [0x78, 0, 0], [0x78, 0, 2, 0x78, 1],
      // Fragments without a header, or of what is no NAL unit.
      [0x7C], [0x7C, 0x98, 1], [0x7C, 0x80, 1], [],
    ]
    for bytes in payloads {
      #expect(throws: ParseError.self, "\(bytes)") { try payload(bytes) }
    }
  }

  private static func unit(_ header: UInt8, _ size: Int) -> ByteBuffer {
    ByteBuffer(bytes: [header] + (1..<size).map { UInt8(truncatingIfNeeded: $0) })
  }

  @Test("parameter sets and SEI share a payload, and a large slice is split into fragments of about equal size")
  func packetizer() throws {
    let units = [
      Self.unit(0x67, 20), Self.unit(0x68, 5), Self.unit(0x06, 30), Self.unit(0x65, 2_500), Self.unit(0x65, 40),
    ]
    var frame = ByteBuffer()
    for unit in units { H264NALUnits.append(unit, to: &frame) }
    let payloads = H264Packetizer(maximumPayloadSize: 1_000).packetize(frame: frame)
    #expect(payloads.map(\.readableBytes) == [1 + 22 + 7 + 32, 835, 835, 835, 40])
    #expect(payloads.map { $0.getInteger(at: $0.readerIndex, as: UInt8.self) } == [0x78, 0x7C, 0x7C, 0x7C, 0x65])
    #expect(try joined(payloads) == units)
    // In mode 0 each unit has a payload of its own.
    let alone = H264Packetizer(maximumPayloadSize: 3_000, aggregates: false).packetize(frame: frame)
    #expect(alone == units)
  }

  @Test("whatever its size, a frame is whole again after it was split", arguments: [16, 100, 1_200])
  func sizes(limit: Int) throws {
    var generator = SeededGenerator(seed: UInt64(limit))
    for _ in 0..<200 {
      let count = Int.random(in: 1...6, using: &generator)
      let units = (0..<count).map { _ in
        let header: UInt8 = [0x67, 0x68, 0x06, 0x41, 0x01, 0x65].randomElement(using: &generator) ?? 0x41
        return Self.unit(header, Int.random(in: 1...3_000, using: &generator))
      }
      var frame = ByteBuffer()
      for unit in units { H264NALUnits.append(unit, to: &frame) }
      let payloads = H264Packetizer(maximumPayloadSize: limit).packetize(frame: frame)
      #expect(payloads.allSatisfy { $0.readableBytes <= limit })
      #expect(try joined(payloads) == units)
    }
  }

  @Test("a frame that is no sequence of NAL units has the payloads of those before its end")
  func broken() {
    let packetizer = H264Packetizer(maximumPayloadSize: 100)
    #expect(packetizer.packetize(frame: ByteBuffer()).isEmpty)
    #expect(packetizer.packetize(frame: ByteBuffer(bytes: [0, 0, 0, 2, 0x41, 0x9A, 0, 0])).count == 1)
    // What only the payload format defines cannot be a NAL unit.
    #expect(packetizer.packetize(frame: ByteBuffer(bytes: [0, 0, 0, 2, 0x7C, 0x85])).isEmpty)
  }

  private func joined(_ payloads: [ByteBuffer]) throws -> [ByteBuffer] {
    var units: [ByteBuffer] = []
    var open = ByteBuffer()
    for payload in payloads {
      switch try H264Payload(parsing: payload) {
      case .unit(let unit): units.append(unit.bytes)
      case .aggregation(let several): units += several.map(\.bytes)
      case .fragment(let fragment):
        if fragment.isFirst { open = ByteBuffer(bytes: [fragment.header]) }
        open.writeImmutableBuffer(fragment.bytes)
        if fragment.isLast { units.append(open) }
      }
    }
    return units
  }
}
