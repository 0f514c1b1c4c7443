import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Sender and receiver reports")
struct ReportTests {
  @Test("a sender report of Chromium has the fields that Wireshark shows")
  func senderReport() throws {
    let packets = try RTCPPacket.parse(compound: Fixture.bytes("rtcp/sender-report-dlrr.bin", in: .module))
    try #require(packets.count == 3)
    #expect(
      packets[0]
        == .senderReport(
          SenderReport(
            ssrc: 0x6303_920E, ntpTime: NTPTime(seconds: 4_004_245_265, fraction: 1_822_208_594),
            rtpTimestamp: 3_327_570_662, packetCount: 103, octetCount: 90_766)))
    #expect(packets[1] == .sourceDescription(SourceDescription(ssrc: 0x6303_920E, cname: "xfWkiFTJEDBwkiJE")))
    #expect(
      packets[2]
        == .extendedReport(
          ExtendedReport(
            ssrc: 0x6303_920E,
            blocks: [
              .delaySinceLastReceiverReport([.init(ssrc: 1, lastReceiverReport: 4_010_820_744, delay: 75_541)])
            ])))
  }

  @Test("a receiver report of Chromium has the fields that Wireshark shows")
  func receiverReport() throws {
    let packets = try RTCPPacket.parse(compound: Fixture.bytes("rtcp/receiver-report-nack-rrtr.bin", in: .module))
    try #require(packets.count == 3)
    let retransmissions = ReportBlock(
      ssrc: 0xEBDE_8BDE, fractionLost: 51, cumulativeLost: 2, extendedHighestSequenceNumber: 11_239, jitter: 585)
    let video = ReportBlock(ssrc: 0x1C13_83CF, extendedHighestSequenceNumber: 14_004, jitter: 17)
    #expect(packets[0] == .receiverReport(ReceiverReport(ssrc: 1, reports: [retransmissions, video])))
    #expect(
      packets[1]
        == .genericNACK(GenericNACK(senderSSRC: 1, mediaSSRC: 0x1C13_83CF, sequenceNumbers: [14_005])))
  }

  @Test("a sender report with a block has its fields in the order of RFC 3550, 6.4.1")
  func layout() throws {
    let report = SenderReport(
      ssrc: 0x0101_0101, ntpTime: NTPTime(value: 0x0202_0202_0303_0303), rtpTimestamp: 0x0404_0404,
      packetCount: 0x0505_0505, octetCount: 0x0606_0606,
      reports: [
        ReportBlock(
          ssrc: 0x0707_0707, fractionLost: 0x80, cumulativeLost: -2, extendedHighestSequenceNumber: 0x0001_FFFF,
          jitter: 0x0909_0909, lastSenderReport: 0x0A0A_0A0A, delaySinceLastSenderReport: 0x0B0B_0B0B)
      ])
    let packet = try onlyPacket(
      bytes(
        """
        81C8000C 01010101 02020202 03030303 04040404 05050505 06060606
        07070707 80FFFFFE 0001FFFF 09090909 0A0A0A0A 0B0B0B0B
        """))
    #expect(packet == .senderReport(report))
  }

  @Test("profile-specific bytes after the reports are kept")
  func profileExtension() throws {
    let sender = "80C80007 01010101 02020202 03030303 04040404 05050505 06060606 CAFECAFE"
    guard case .senderReport(let report) = try onlyPacket(bytes(sender)) else { return #expect(Bool(false)) }
    #expect(report.profileExtension == bytes("CAFECAFE"))
    guard case .receiverReport(let other) = try onlyPacket(bytes("80C90002 01010101 CAFECAFE")) else {
      return #expect(Bool(false))
    }
    #expect(other.profileExtension == bytes("CAFECAFE"))
  }

  @Test(
    "a cumulative loss beyond 24 bits is clamped",
    arguments: [
      (Int32.max, Int32(0x7F_FFFF)), (.min, -0x80_0000), (-1, -1), (0x7F_FFFF, 0x7F_FFFF),
    ])
  func cumulativeLoss(lost: Int32, carried: Int32) throws {
    let block = ReportBlock(ssrc: 1, fractionLost: 255, cumulativeLost: lost, extendedHighestSequenceNumber: 2)
    let datagram = written { ReceiverReport(ssrc: 3, reports: [block]).write(into: &$0) }
    guard case .receiverReport(let report) = try onlyPacket(datagram) else { return #expect(Bool(false)) }
    #expect(report.reports.first?.cumulativeLost == carried)
    #expect(report.reports.first?.fractionLost == 255)
  }

  @Test("reports on more than 31 sources continue in further receiver reports")
  func manyReports() throws {
    let blocks = (0..<70).map { ReportBlock(ssrc: $0, extendedHighestSequenceNumber: $0) }
    let sender = SenderReport(
      ssrc: 9, ntpTime: NTPTime(value: 1), rtpTimestamp: 2, packetCount: 3, octetCount: 4, reports: blocks)
    let packets = try RTCPPacket.parse(compound: written { sender.write(into: &$0) })
    var read: [ReportBlock] = []
    for packet in packets {
      switch packet {
      case .senderReport(let report): read += report.reports
      case .receiverReport(let report): read += report.reports
      default: Issue.record("\(packet) is not a report")
      }
    }
    #expect(packets.count == 3)
    #expect(read == blocks)

    let receiver = ReceiverReport(ssrc: 9, reports: blocks, profileExtension: bytes("01020304"))
    let others = try RTCPPacket.parse(compound: written { receiver.write(into: &$0) })
    #expect(others.count == 3)
    #expect(
      others.last
        == .receiverReport(
          ReceiverReport(ssrc: 9, reports: Array(blocks.suffix(8)), profileExtension: bytes("01020304"))))
  }
}
