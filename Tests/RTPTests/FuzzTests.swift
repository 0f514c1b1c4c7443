import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

/// No input causes a trap, and parsed values can be written and parsed again.
@Suite("Parsers with arbitrary bytes")
struct FuzzTests {
  private static let rounds = 100_000

  @Test("arbitrary bytes never trap the RTP parser")
  func randomRTP() {
    var generator = SeededGenerator(seed: 101)
    for _ in 0..<Self.rounds {
      var datagram = randomBytes(upTo: 80, using: &generator)
      // Half of them get a valid version, so that parsing continues.
      if Bool.random(using: &generator) { setFirstByte(of: &datagram, keeping: 0x3F, setting: 0x80) }
      checkRTP(datagram)
    }
  }

  @Test("damaged packets of Chromium never trap the RTP parser")
  func mutatedRTP() throws {
    var generator = SeededGenerator(seed: 102)
    let names = ["opus", "vp8-keyframe-start", "vp8-simulcast", "vp8-two-byte-extensions", "rtx", "rtx-padding-only"]
    let seeds = try names.map { try Fixture.bytes("rtp/\($0).bin", in: .module) }
    for round in 0..<Self.rounds {
      checkRTP(mutated(seeds[round % seeds.count], using: &generator))
    }
  }

  @Test("arbitrary bytes never trap the RTCP parser")
  func randomRTCP() {
    var generator = SeededGenerator(seed: 103)
    for _ in 0..<Self.rounds {
      var datagram = randomBytes(upTo: 80, using: &generator)
      if datagram.readableBytes >= 4, Int.random(in: 0..<8, using: &generator) > 0 {
        setFirstByte(of: &datagram, keeping: 0x1F, setting: 0x80)
        datagram.setInteger(UInt8.random(in: 200...207, using: &generator), at: 1)
        datagram.moveWriterIndex(to: datagram.writerIndex & ~3)
        datagram.setInteger(UInt16(datagram.readableBytes / 4 - 1), at: 2)
      }
      checkRTCP(datagram)
    }
  }

  @Test("damaged packets of Chromium never trap the RTCP parser")
  func mutatedRTCP() throws {
    var generator = SeededGenerator(seed: 104)
    let seeds = try Fixture.text("rtcp/three-calls.hex", in: .module).split(separator: "\n").map { bytes(String($0)) }
    for round in 0..<Self.rounds {
      checkRTCP(mutated(seeds[round % seeds.count], using: &generator))
    }
  }

  @Test("arbitrary bytes never trap the payload format parsers")
  func payloads() {
    var generator = SeededGenerator(seed: 105)
    for _ in 0..<Self.rounds {
      let payload = randomBytes(upTo: 16, using: &generator)
      checkDescriptor(payload)
      checkVP9(payload)
      _ = try? VP8FrameHeader(parsing: payload)
      if let packet = try? OpusPacket(parsing: payload) {
        expect((120...OpusTableOfContents.maximumDuration).contains(packet.duration), of: payload)
      }
      _ = PacketKind.of(payload)
    }
  }

  /// Fails the test unless a condition holds. `#expect` costs more than a packet, so it is not used for thousands of
  /// packets a second.
  private func expect(_ isTrue: Bool, of datagram: ByteBuffer, sourceLocation: SourceLocation = #_sourceLocation) {
    if !isTrue { Issue.record("wrong for \(datagram.hexDump(format: .compact))", sourceLocation: sourceLocation) }
  }

  private func checkRTP(_ datagram: ByteBuffer) {
    guard var packet = try? RTPPacket(parsing: datagram) else { return }
    let again = written { packet.write(into: &$0) }
    expect(again.readableBytes == datagram.readableBytes, of: datagram)
    expect((try? RTPPacket(parsing: again)) == packet, of: datagram)
    if packet.paddingLength == 0 { expect(again == datagram, of: datagram) }
    expect(packet.extensions.elements.allSatisfy { $0.value.readableBytes <= 255 }, of: datagram)
    checkDescriptor(packet.payload)
    _ = Retransmission.unwrap(packet, payloadType: 96, ssrc: 1)
    // One id for a one-byte header, one that usually exists already, one that needs a two-byte header.
    let id: UInt8 = [1, 4, 255][Int(packet.ssrc % 3)]
    _ = packet.extensions.text(id)
    packet.extensions.setTransportSequenceNumber(7, id)
    expect(packet.extensions.transportSequenceNumber(id) == 7, of: datagram)
    expect((try? RTPPacket(parsing: written { packet.write(into: &$0) })) == packet, of: datagram)
  }

  private func checkRTCP(_ datagram: ByteBuffer) {
    let packets = RTCPCompound(parsing: datagram).packets
    if packets.isEmpty { return }
    let again = written { RTCPPacket.write(packets, into: &$0) }
    // Reserved bits and padding are not kept, so the bytes may differ, but the values may not.
    expect((try? RTCPPacket.parse(compound: again)) == packets, of: datagram)
    for packet in packets {
      switch packet {
      case .genericNACK(let nack): expect(nack.sequenceNumbers.count <= 17 * nack.entries.count, of: datagram)
      case .transportFeedback(let feedback): expect(feedback.arrivals.count == feedback.deltas.count, of: datagram)
      case .receiverEstimatedMaximumBitrate(let estimate): _ = estimate.bitrate
      case .senderReport(let report): _ = report.reports.map { $0.roundTripTime(now: report.ntpTime) }
      default: break
      }
    }
  }

  private func checkDescriptor(_ payload: ByteBuffer) {
    var rest = payload
    guard let descriptor = try? VP8PayloadDescriptor(parsing: &rest) else { return }
    expect(descriptor.byteCount + rest.readableBytes == payload.readableBytes, of: payload)
    var again = written { descriptor.write(into: &$0) }
    expect(again.readableBytes == descriptor.byteCount, of: payload)
    again.writeImmutableBuffer(rest)
    expect((try? VP8PayloadDescriptor(parsing: &again)) == descriptor, of: payload)
  }

  private func checkVP9(_ payload: ByteBuffer) {
    _ = try? VP9FrameHeader(parsing: payload).extent(in: payload)
    _ = try? VP9Superframe(parsing: payload)
    var rest = payload
    guard let descriptor = try? VP9PayloadDescriptor(parsing: &rest) else { return }
    expect(descriptor.byteCount + rest.readableBytes == payload.readableBytes, of: payload)
    var again = written { descriptor.write(into: &$0) }
    expect(again.readableBytes == descriptor.byteCount, of: payload)
    again.writeImmutableBuffer(rest)
    expect((try? VP9PayloadDescriptor(parsing: &again)) == descriptor, of: payload)
  }

  private func randomBytes(upTo limit: Int, using generator: inout SeededGenerator) -> ByteBuffer {
    var buffer = ByteBuffer()
    let count = Int.random(in: 0...limit, using: &generator)
    for _ in 0...(count / 8) { buffer.writeInteger(generator.next()) }
    buffer.moveWriterIndex(to: count)
    return buffer
  }

  private func setFirstByte(of buffer: inout ByteBuffer, keeping mask: UInt8, setting bits: UInt8) {
    guard let first = buffer.getInteger(at: 0, as: UInt8.self) else { return }
    buffer.setInteger(first & mask | bits, at: 0)
  }

  /// Returns a copy with a few bytes changed, sometimes truncated or extended.
  private func mutated(_ original: ByteBuffer, using generator: inout SeededGenerator) -> ByteBuffer {
    var copy = original
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      // Headers are at the front, so half of the changes are made there.
      let mutableLength = Bool.random(using: &generator) ? min(40, copy.readableBytes) : copy.readableBytes
      copy.setInteger(
        UInt8(truncatingIfNeeded: generator.next()), at: Int.random(in: 0..<mutableLength, using: &generator))
    }
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: copy.moveWriterIndex(to: Int.random(in: 0...copy.readableBytes, using: &generator))
    case 1: copy.writeRepeatingByte(0xFF, count: Int.random(in: 1...8, using: &generator))
    default: break
    }
    return copy
  }
}
