import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Extended reports")
struct ExtendedReportTests {
  @Test("a DLRR block of Chromium has the fields that Wireshark shows")
  func chromium() throws {
    let packet = try onlyPacket(Fixture.bytes("rtcp/extended-report.bin", in: .module))
    guard case .extendedReport(let report) = packet,
      case .delaySinceLastReceiverReport(let answers)? = report.blocks.first
    else { return #expect(Bool(false)) }
    #expect(report.ssrc == 0xF105_EFA9)
    #expect(answers.map(\.ssrc) == [1])
  }

  @Test("reference time, answers and unknown blocks are parsed and written back")
  func blocks() throws {
    let packet = try onlyPacket(
      bytes(
        """
        80CF000D 00000009
        04000002 00000064 80000000
        05000006 00000001 00020000 00010000 00000002 00000000 00000000
        07AA0001 01020304
        """))
    #expect(
      packet
        == .extendedReport(
          ExtendedReport(
            ssrc: 9,
            blocks: [
              .receiverReferenceTime(NTPTime(seconds: 100, fraction: 0x8000_0000)),
              .delaySinceLastReceiverReport([
                .init(ssrc: 1, lastReceiverReport: 0x0002_0000, delay: 0x0001_0000),
                .init(ssrc: 2, lastReceiverReport: 0, delay: 0),
              ]),
              .unknown(type: 7, typeSpecific: 0xAA, body: bytes("01020304")),
            ])))
  }

  @Test("a block of a known type with an invalid length is kept as unknown")
  func oddLengths() throws {
    for hex in ["80CF0003 00000009 04000001 00000064", "80CF0003 00000009 05000001 00000001"] {
      guard case .extendedReport(let report) = try onlyPacket(bytes(hex)),
        case .unknown? = report.blocks.first
      else { return #expect(Bool(false)) }
    }
  }

  @Test("an answer yields the round-trip time")
  func roundTrip() {
    let answer = ExtendedReport.DLRRSubBlock(ssrc: 1, lastReceiverReport: 2 << 16, delay: 1 << 16)
    #expect(answer.roundTripTime(now: NTPTime(seconds: 3, fraction: 1 << 30)) == .milliseconds(250))
    let unanswered = ExtendedReport.DLRRSubBlock(ssrc: 1, lastReceiverReport: 0, delay: 0)
    #expect(unanswered.roundTripTime(now: NTPTime(value: 1 << 40)) == nil)
  }
}
