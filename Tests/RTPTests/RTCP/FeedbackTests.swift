import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Feedback: NACK, PLI, FIR and REMB")
struct FeedbackTests {
  @Test("lost packets within 16 of the first share an entry")
  func nackEntries() throws {
    let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [100, 101, 103, 116, 117, 200])
    #expect(
      nack.entries == [
        .init(packetID: 100, lostPacketBitmask: 0b1000_0000_0000_0101), .init(packetID: 117, lostPacketBitmask: 0),
        .init(packetID: 200, lostPacketBitmask: 0),
      ])
    #expect(nack.sequenceNumbers == [100, 101, 103, 116, 117, 200])
    #expect(
      try onlyPacket(bytes("81CD0005 00000001 00000002 00648005 00750000 00C80000")) == .genericNACK(nack))
  }

  @Test("an entry spans the wrap of sequence numbers")
  func nackWraps() {
    let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65_534, 65_535, 0, 14])
    #expect(nack.entries == [.init(packetID: 65_534, lostPacketBitmask: 0b1000_0000_0000_0011)])
    #expect(nack.sequenceNumbers == [65_534, 65_535, 0, 14])
  }

  @Test("a number that is repeated is in the list once")
  func nackDuplicates() {
    let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [7, 7, 8, 8])
    #expect(nack.sequenceNumbers == [7, 8])
  }

  @Test("a full bit mask requests 17 packets")
  func nackFull() throws {
    guard case .genericNACK(let nack) = try onlyPacket(bytes("81CD0003 00000001 00000002 FFF8FFFF")) else {
      return #expect(Bool(false))
    }
    #expect(nack.sequenceNumbers == (0...16).map { 0xFFF8 &+ UInt16($0) })
  }

  @Test("any ascending list of sequence numbers is restored from its entries")
  func nackRandom() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<500 {
      var number = UInt16.random(in: .min ... .max, using: &generator)
      var numbers: [UInt16] = []
      for _ in 0..<Int.random(in: 0...50, using: &generator) {
        numbers.append(number)
        number &+= UInt16.random(in: 1...40, using: &generator)
      }
      #expect(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: numbers).sequenceNumbers == numbers)
    }
  }

  @Test("a picture loss indication consists of two SSRCs")
  func pictureLoss() throws {
    #expect(
      try RTCPPacket.parse(compound: Fixture.bytes("rtcp/picture-loss.bin", in: .module))
        == [.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 0x6303_920E))])
  }

  @Test("a full intra request names each source with its own sequence number")
  func fullIntra() throws {
    let request = FullIntraRequest(
      senderSSRC: 1, entries: [.init(ssrc: 0xAABB_CCDD, sequenceNumber: 7), .init(ssrc: 2, sequenceNumber: 255)])
    #expect(
      try onlyPacket(bytes("84CE0006 00000001 00000000 AABBCCDD 07000000 00000002 FF000000"))
        == .fullIntraRequest(request))
  }

  @Test("an estimate of Chromium is 3,355,216 bits per second for two sources")
  func chromiumEstimate() throws {
    let packets = try RTCPPacket.parse(compound: Fixture.bytes("rtcp/picture-loss-remb.bin", in: .module))
    guard packets.count == 2, case .receiverEstimatedMaximumBitrate(let estimate) = packets[1] else {
      return #expect(Bool(false))
    }
    #expect(estimate.exponent == 4)
    #expect(estimate.mantissa == 209_701)
    #expect(estimate.bitrate == 3_355_216)
    #expect(estimate.sources == [0xA850_E50F, 0xCBAD_2BBC])
  }

  @Test(
    "a bitrate keeps its 18 highest bits",
    arguments: [
      (UInt64(0), UInt8(0), UInt32(0)), (1, 0, 1), (0x3FFFF, 0, 0x3FFFF), (0x40000, 1, 0x20000), (0x40001, 1, 0x20000),
      (5_000_000, 5, 156_250), (.max, 46, 0x3FFFF),
    ])
  func mantissa(bitrate: UInt64, exponent: UInt8, mantissa: UInt32) throws {
    let estimate = ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitrate: bitrate, sources: [2])
    #expect(estimate.exponent == exponent)
    #expect(estimate.mantissa == mantissa)
    #expect(estimate.bitrate <= bitrate)
    #expect(Double(estimate.bitrate) >= Double(bitrate) * (1 - 1 / 131_072.0))
    let packet = try onlyPacket(written { estimate.write(into: &$0) })
    #expect(packet == .receiverEstimatedMaximumBitrate(estimate))
  }

  @Test("an estimate with another exponent is kept, and one beyond 64 bits becomes the maximum")
  func unusualScale() throws {
    let oddPacket = try onlyPacket(bytes("8FCE0004 00000001 00000000 52454D42 002003E8"))
    let vastPacket = try onlyPacket(bytes("8FCE0004 00000001 00000000 52454D42 00FC0002"))
    guard case .receiverEstimatedMaximumBitrate(let odd) = oddPacket,
      case .receiverEstimatedMaximumBitrate(let vast) = vastPacket
    else { return #expect(Bool(false)) }
    #expect(odd.bitrate == 1_000 << 8)
    #expect(vast.bitrate == .max)
  }
}
