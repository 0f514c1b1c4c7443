internal import Bitstream
package import NIOCore

/// Extended reports: XR (RFC 3611, 2). Two kinds of block let a receiver that sends no media measure its round-trip
/// time.
package struct ExtendedReport: Sendable, Hashable {
  package enum Block: Sendable, Hashable {
    /// RRTR: the receiver's wall clock, which the sender answers with a DLRR block (RFC 3611, 4.4).
    case receiverReferenceTime(NTPTime)
    /// DLRR: answers to the RRTR blocks of receivers (RFC 3611, 4.5).
    case delaySinceLastReceiverReport([DLRRSubBlock])
    /// A block of another type, kept as received.
    case unknown(type: UInt8, typeSpecific: UInt8, body: ByteBuffer)
  }

  /// A DLRR sub-block: the answer to one receiver's reference time.
  package struct DLRRSubBlock: Sendable, Hashable {
    package var ssrc: UInt32
    /// LRR: the middle 32 bits of the receiver's reference time; 0 when there was none.
    package var lastReceiverReport: UInt32
    /// DLRR: the delay since the reference time was received, in 2⁻¹⁶ s.
    package var delay: UInt32

    package init(ssrc: UInt32, lastReceiverReport: UInt32, delay: UInt32) {
      self.ssrc = ssrc
      self.lastReceiverReport = lastReceiverReport
      self.delay = delay
    }

    /// Returns the round-trip time for the receiver that the answer is for, or nil when that receiver had not sent a
    /// time yet.
    package func roundTripTime(now: NTPTime) -> Duration? {
      now.roundTripTime(lastReport: lastReceiverReport, delay: delay)
    }
  }

  private static let receiverReferenceTime: UInt8 = 4
  private static let delaySinceLastReceiverReport: UInt8 = 5

  /// The SSRC of the reporter.
  package var ssrc: UInt32
  package var blocks: [Block]

  package init(ssrc: UInt32, blocks: [Block]) {
    self.ssrc = ssrc
    self.blocks = blocks
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    var body = raw.body
    guard let ssrc = body.readInteger(as: UInt32.self) else {
      throw .tooShort("An extended report's body", needs: 4, found: raw.body.readableBytes)
    }
    self.init(ssrc: ssrc, blocks: [])
    while body.readableBytes > 0 {
      blocks.append(try Self.readBlock(from: &body))
    }
  }

  package func write(into buffer: inout ByteBuffer) {
    buffer.writeRTCP(type: RTCPPacket.Kind.extendedReport, count: 0) { body in
      body.writeInteger(ssrc)
      for block in blocks { Self.write(block, into: &body) }
    }
  }

  private static func readBlock(from rest: inout ByteBuffer) throws(ParseError) -> Block {
    let found = rest.readableBytes
    guard let (type, typeSpecific, words) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else {
      throw .tooShort("An extended report's block", needs: 4, found: found)
    }
    guard var body = rest.readSlice(length: 4 * Int(words)) else {
      throw .tooShort("An extended report's block of type \(type)", needs: 4 + 4 * Int(words), found: found)
    }
    switch (type, words) {
    case (receiverReferenceTime, 2):
      return .receiverReferenceTime(NTPTime(value: body.readInteger() ?? 0))
    case (delaySinceLastReceiverReport, _) where words % 3 == 0:
      var subBlocks: [DLRRSubBlock] = []
      subBlocks.reserveCapacity(Int(words) / 3)
      while let (ssrc, last, delay) = body.readMultipleIntegers(as: (UInt32, UInt32, UInt32).self) {
        subBlocks.append(DLRRSubBlock(ssrc: ssrc, lastReceiverReport: last, delay: delay))
      }
      return .delaySinceLastReceiverReport(subBlocks)
    default:
      return .unknown(type: type, typeSpecific: typeSpecific, body: body)
    }
  }

  private static func write(_ block: Block, into buffer: inout ByteBuffer) {
    let start = buffer.writerIndex
    switch block {
    case .receiverReferenceTime(let time):
      buffer.writeMultipleIntegers(receiverReferenceTime, UInt8(0), UInt16(0), time.value)
    case .delaySinceLastReceiverReport(let subBlocks):
      buffer.writeMultipleIntegers(delaySinceLastReceiverReport, UInt8(0), UInt16(0))
      for subBlock in subBlocks.prefix(0xFFFF / 3) {
        buffer.writeMultipleIntegers(subBlock.ssrc, subBlock.lastReceiverReport, subBlock.delay)
      }
    case .unknown(let type, let typeSpecific, let body):
      buffer.writeMultipleIntegers(type, typeSpecific, UInt16(0))
      let held = body.getSlice(at: body.readerIndex, length: min(body.readableBytes, 4 * 0xFFFF))
      if let held { buffer.writeImmutableBuffer(held) }
      buffer.padToWord(since: start)
    }
    buffer.setInteger(UInt16(truncatingIfNeeded: (buffer.writerIndex - start) / 4 - 1), at: start + 2)
  }
}
