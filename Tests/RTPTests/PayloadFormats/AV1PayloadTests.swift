import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("AV1 payloads")
struct AV1PayloadTests {
  private func elements(_ bytes: [UInt8]) throws -> [AV1Payload.Element] {
    var payload = try AV1Payload(parsing: ByteBuffer(bytes: bytes))
    var elements: [AV1Payload.Element] = []
    while let element = try payload.nextElement() { elements.append(element) }
    return elements
  }

  private func element(_ bytes: [UInt8], continues: Bool = false, isContinued: Bool = false) -> AV1Payload.Element {
    AV1Payload.Element(continues: continues, isContinued: isContinued, bytes: ByteBuffer(bytes: bytes))
  }

  @Test("up to three elements are counted, the last without its length; otherwise each has one")
  func counts() throws {
    #expect(try elements([0x10, 0x30, 1, 2]) == [element([0x30, 1, 2])])
    #expect(try elements([0x20, 2, 0x08, 9, 0x30, 1]) == [element([0x08, 9]), element([0x30, 1])])
    #expect(try elements([0x30, 1, 0x10, 1, 0x08, 0x30]) == [element([0x10]), element([0x08]), element([0x30])])
    #expect(try elements([0x00, 1, 0x10, 2, 0x30, 7]) == [element([0x10]), element([0x30, 7])])
  }

  @Test("the first element continues that before with Z, and the last continues with Y")
  func fragments() throws {
    #expect(
      try elements([0xE0, 1, 7, 0x30, 8]) == [element([7], continues: true), element([0x30, 8], isContinued: true)])
    #expect(try elements([0xD0, 7]) == [element([7], continues: true, isContinued: true)])
    #expect(try elements([0x80, 1, 7, 1, 0x30]) == [element([7], continues: true), element([0x30])])
    let first = try AV1Payload(parsing: ByteBuffer(bytes: [0x18, 0x08]))
    #expect(first.startsSequence && !first.continues && !first.isContinued)
  }

  @Test("broken lengths and counts, too many elements, and a sequence that begins with a continuation are refused")
  func refused() {
    let payloads: [[UInt8]] = [
      [], [0x10], [0x98, 1], [0x20, 5, 1], [0x20, 2, 1, 2], [0x30, 1, 1, 2, 1, 1], [0x00, 2, 1], [0x00, 0x80],
      [0x00] + [UInt8](repeating: 0, count: AV1Payload.maximumElements + 1),
    ]
    for bytes in payloads {
      #expect(throws: ParseError.self, "\(bytes)") { try elements(bytes) }
    }
  }

  private static func obu(_ type: AV1OBU.Kind, _ size: Int, temporal: UInt8 = 0, spatial: UInt8 = 0) -> AV1OBU {
    // A frame that shows a key frame, or any bytes.
    let bytes = [0x10] + (1..<max(1, size)).map { UInt8(truncatingIfNeeded: $0) }
    return AV1OBU(
      type, temporalLayer: temporal, spatialLayer: spatial, payload: ByteBuffer(bytes: bytes.prefix(size)))
  }

  private static func unit(_ obus: [AV1OBU]) -> ByteBuffer {
    var unit = ByteBuffer()
    for obu in obus { obu.write(into: &unit) }
    return unit
  }

  @Test(
    "OBUs of a frame share a payload, a large one is split into parts of about equal size, and delimiters are left out")
  func packetizer() throws {
    let frame = Self.unit([
      Self.obu(.temporalDelimiter, 0), Self.obu(.sequenceHeader, 10), Self.obu(.frame, 2_500), Self.obu(.padding, 30),
    ])
    let payloads = AV1Packetizer(maximumPayloadSize: 1_000).packetize(frame: frame)
    let headers = payloads.map { $0.getInteger(at: $0.readerIndex, as: UInt8.self) }
    // A new sequence of two elements, of which the second continues twice.
    #expect(headers == [0x68, 0xD0, 0x90])
    #expect(payloads.map(\.readableBytes).allSatisfy { (830...850).contains($0) })
    #expect(try joined(payloads) == [Self.obu(.sequenceHeader, 10), Self.obu(.frame, 2_500)])
    // Several frames of a temporal unit, of layers or hidden ones, share a payload.
    let layers = Self.unit([
      Self.obu(.sequenceHeader, 10), Self.obu(.frame, 20), Self.obu(.frame, 30, spatial: 1),
      Self.obu(.frame, 40, temporal: 1, spatial: 1),
    ])
    let parts = AV1Packetizer(maximumPayloadSize: 1_000).packetize(frame: layers)
    #expect(parts.map { $0.getInteger(at: $0.readerIndex, as: UInt8.self) } == [0x08])
  }

  @Test("every payload but the first begins with the rest of an OBU, wherever OBUs end", arguments: 60...110)
  func chained(size: Int) throws {
    let unit = Self.unit([
      Self.obu(.frame, size), Self.obu(.tileGroup, 90), Self.obu(.frame, 3, spatial: 1), Self.obu(.tileGroup, 200),
    ])
    let payloads = AV1Packetizer(maximumPayloadSize: 100).packetize(frame: unit)
    let headers = payloads.compactMap { $0.getInteger(at: $0.readerIndex, as: UInt8.self) }
    #expect(headers.first.map { $0 & 0x80 == 0 } ?? false && headers.dropFirst().allSatisfy { $0 & 0x80 != 0 })
    #expect(try joined(payloads) == Array(AV1OBUs(unit)))
  }

  @Test("whatever its size, a temporal unit is whole again after it was split", arguments: [16, 100, 1_200])
  func sizes(limit: Int) throws {
    var generator = SeededGenerator(seed: UInt64(limit))
    let types: [AV1OBU.Kind] = [.sequenceHeader, .frame, .tileGroup, .metadata, .frameHeader]
    for _ in 0..<300 {
      let obus = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
        Self.obu(
          types.randomElement(using: &generator) ?? .frame, Int.random(in: 0...3_000, using: &generator),
          temporal: UInt8.random(in: 0...1, using: &generator), spatial: UInt8.random(in: 0...1, using: &generator))
      }
      let payloads = AV1Packetizer(maximumPayloadSize: limit).packetize(frame: Self.unit(obus))
      #expect(payloads.allSatisfy { (2...max(16, limit)).contains($0.readableBytes) })
      #expect(try joined(payloads) == obus)
    }
  }

  @Test("a frame that is no sequence of OBUs has the payloads of those before its end")
  func broken() {
    let packetizer = AV1Packetizer(maximumPayloadSize: 100)
    #expect(packetizer.packetize(frame: ByteBuffer()).isEmpty)
    #expect(packetizer.packetize(frame: ByteBuffer(bytes: [0x32, 2, 0x30, 9, 0xB2, 0])).count == 1)
    #expect(packetizer.packetize(frame: ByteBuffer(bytes: [0x12, 0])).isEmpty)
  }

  /// Joins the elements of payloads as the specification says (AV1 RTP specification 1.0, 4.4).
  private func joined(_ payloads: [ByteBuffer]) throws -> [AV1OBU] {
    var obus: [AV1OBU] = []
    var open: ByteBuffer?
    for bytes in payloads {
      var payload = try AV1Payload(parsing: bytes)
      #expect(payload.continues == (open != nil))
      while let element = try payload.nextElement() {
        var whole = open ?? ByteBuffer()
        whole.writeImmutableBuffer(element.bytes)
        open = element.isContinued ? whole : nil
        if !element.isContinued { obus.append(try AV1OBU(parsing: &whole)) }
      }
    }
    #expect(open == nil)
    return obus
  }
}
