import Bitstream
import NIOCore
import RTP
import TestSupport
import Testing

@Suite("Transport-wide feedback")
struct TransportFeedbackTests {
  private func parse(_ hex: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> TransportFeedback {
    let packet = try onlyPacket(bytes(hex), sourceLocation: sourceLocation)
    guard case .transportFeedback(let feedback) = packet else {
      throw ParseError.wrongValue("The packet", expected: "a transport feedback", found: 0)
    }
    return feedback
  }

  @Test("a run of Chromium has the arrivals that Wireshark shows")
  func run() throws {
    let packet = try onlyPacket(Fixture.bytes("rtcp/transport-feedback.bin", in: .module))
    guard case .transportFeedback(let feedback) = packet else { return #expect(Bool(false)) }
    #expect(feedback.senderSSRC == 0xFA17_FA17)
    #expect(feedback.mediaSSRC == 0x9FBD_0ABE)
    #expect(feedback.baseSequenceNumber == 93)
    #expect(feedback.packetStatusCount == 6)
    #expect(feedback.referenceTime == 29_394)
    #expect(feedback.feedbackPacketCount == 14)
    #expect(feedback.chunks == [.run(.smallDelta, count: 6)])
    #expect(feedback.deltas == [88, 2, 1, 3, 74, 80])
    #expect(feedback.arrivals.map(\.sequenceNumber) == [93, 94, 95, 96, 97, 98])
    let start: Int64 = 29_394 * 256
    #expect(feedback.arrivals.map { $0.time - start } == [88, 90, 91, 94, 168, 248])
  }

  @Test("a vector of Chromium with losses and marked padding has the arrivals that Wireshark shows")
  func vector() throws {
    let packet = try onlyPacket(Fixture.bytes("rtcp/transport-feedback-vector.bin", in: .module))
    guard case .transportFeedback(let feedback) = packet else { return #expect(Bool(false)) }
    #expect(feedback.chunks == [.twoBitVector(0x0155)])
    #expect(feedback.arrivals.map(\.sequenceNumber) == [22, 23, 24, 25, 26])
    #expect(feedback.deltas == [0xB7, 0x50, 0x13, 0x0D, 0x1E])
  }

  @Test("chunks have the bits of the examples in the draft")
  func chunkExamples() {
    // 3.1.3: a run of 221 packets not received; a run of 24 with a reserved status is "11".
    #expect(TransportFeedback.StatusChunk(word: 0b0000_0000_1101_1101) == .run(.notReceived, count: 221))
    #expect(TransportFeedback.StatusChunk(word: 0b0110_0000_0001_1000) == .run(.reserved, count: 24))
    // 3.1.4: 1 lost, 5 received, 3 lost, 3 received, 2 lost.
    let oneBit = TransportFeedback.StatusChunk(word: 0b1001_1111_0001_1100)
    #expect(
      (0..<14).map { oneBit.status(at: $0).rawValue } == [0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0])
    // 1 lost, 1 with a large delta, 3 received, 2 lost (from the figure in the draft).
    let twoBit = TransportFeedback.StatusChunk(word: 0b1100_1001_0101_0000)
    #expect((0..<7).map { twoBit.status(at: $0).rawValue } == [0, 2, 1, 1, 1, 0, 0])
    for word in UInt16.min...UInt16.max {
      #expect(TransportFeedback.StatusChunk(word: word).word == word)
    }
  }

  @Test("small deltas have one byte, large or negative ones two")
  func deltas() throws {
    // Five packets from 65534: received, lost, +64 ms, −1 ms, received; reference time −1 (24 bits).
    let feedback = try parse("8FCD0006 0000000100000002FFFE0005FFFFFF09D290040100FFFC08")
    #expect(feedback.referenceTime == -1)
    #expect(feedback.feedbackPacketCount == 9)
    #expect(feedback.deltas == [4, 256, -4, 8])
    #expect(feedback.arrivals.map(\.sequenceNumber) == [65_534, 0, 1, 2])
    #expect(feedback.arrivals.map(\.time) == [-252, 4, 0, 8])
  }

  @Test("zeros at the end are written as received, marked as padding or not")
  func unmarkedPadding() throws {
    let marked = try parse("AFCD0005 0000000100000002000100010000010020010401")
    let unmarked = try parse("8FCD0005 0000000100000002000100010000010020010400")
    #expect(marked.marksPadding)
    #expect(!unmarked.marksPadding)
    #expect(marked.arrivals == unmarked.arrivals)
  }

  @Test("the last chunk may describe more packets than are reported")
  func roomyChunk() throws {
    let feedback = try parse("8FCD0006 00000001000000020001000300000100BFFF010203000000")
    #expect(feedback.arrivals.map(\.sequenceNumber) == [1, 2, 3])
  }

  @Test("missing chunks, missing deltas and a reserved status are rejected")
  func errors() {
    func failure(_ hex: String) -> String {
      sentence { () throws(ParseError) in _ = try RTCPPacket.parse(compound: bytes(hex)) }
    }
    #expect(
      failure("8FCD0003 00000001 00000002 00010003")
        == "A transport feedback's body needs 16 bytes, but only 12 arrived.")
    #expect(
      failure("8FCD0004 00000001 00000002 00010003 00000100")
        == "A transport feedback on 3 packets needs 18 bytes, but only 16 arrived.")
    #expect(
      failure("8FCD0005 00000001 00000002 00010003 00000100 20030101")
        == "A transport feedback's list of more than 2 deltas needs 3 bytes, but only 2 arrived.")
    #expect(
      failure("8FCD0005 00000001 00000002 00010003 00000100 60030101")
        == "A transport feedback's packet status must be 0, 1 or 2, but it is 3.")
    // Empty runs cover no packets, however many there are.
    #expect(failure("8FCD0005 00000001 00000002 00010003 00000100 00000000").contains("on 3 packets"))
  }

  @Test("runs of thousands of lost packets need no memory")
  func longRuns() throws {
    let feedback = try parse(
      "AFCD000B 00000001000000020001FFFF000001001FFF1FFF1FFF1FFF1FFF1FFF1FFF1FFF200701010101010101000003")
    #expect(feedback.arrivals.count == 7)
    #expect(feedback.arrivals.last?.sequenceNumber == 65_535)
    #expect(feedback.packetStatusCount == 65_535)
  }
}
