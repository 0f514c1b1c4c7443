package import Bitstream
package import NIOCore

/// One RTCP packet of a compound packet (RFC 3550, 6).
package enum RTCPPacket: Sendable, Hashable {
  case senderReport(SenderReport)
  case receiverReport(ReceiverReport)
  case sourceDescription(SourceDescription)
  case goodbye(Goodbye)
  case genericNACK(GenericNACK)
  case transportFeedback(TransportFeedback)
  case pictureLossIndication(PictureLossIndication)
  case fullIntraRequest(FullIntraRequest)
  case receiverEstimatedMaximumBitrate(ReceiverEstimatedMaximumBitrate)
  case extendedReport(ExtendedReport)
  /// A packet of an unsupported type or format.
  ///
  /// - `type`: the packet type, for example 204 for APP.
  /// - `count`: the five bits after the padding bit: a count, subtype or feedback format.
  /// - `body`: the bytes after the first word, padding excluded.
  case unknown(type: UInt8, count: UInt8, body: ByteBuffer)

  /// The supported packet types.
  enum Kind {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    /// RTPFB, RFC 4585, 6.2.
    static let transportLayerFeedback: UInt8 = 205
    /// PSFB, RFC 4585, 6.3.
    static let payloadSpecificFeedback: UInt8 = 206
    /// XR, RFC 3611.
    static let extendedReport: UInt8 = 207
  }

  init(parsing raw: RawRTCPPacket) throws(ParseError) {
    switch (raw.type, raw.count) {
    case (Kind.senderReport, _): self = .senderReport(try SenderReport(parsing: raw))
    case (Kind.receiverReport, _): self = .receiverReport(try ReceiverReport(parsing: raw))
    case (Kind.sourceDescription, _): self = .sourceDescription(try SourceDescription(parsing: raw))
    case (Kind.goodbye, _): self = .goodbye(try Goodbye(parsing: raw))
    case (Kind.transportLayerFeedback, GenericNACK.format): self = .genericNACK(try GenericNACK(parsing: raw))
    case (Kind.transportLayerFeedback, TransportFeedback.format):
      self = .transportFeedback(try TransportFeedback(parsing: raw))
    case (Kind.payloadSpecificFeedback, PictureLossIndication.format):
      self = .pictureLossIndication(try PictureLossIndication(parsing: raw))
    case (Kind.payloadSpecificFeedback, FullIntraRequest.format):
      self = .fullIntraRequest(try FullIntraRequest(parsing: raw))
    case (Kind.payloadSpecificFeedback, ReceiverEstimatedMaximumBitrate.format)
    where ReceiverEstimatedMaximumBitrate.isIdentified(in: raw):
      self = .receiverEstimatedMaximumBitrate(try ReceiverEstimatedMaximumBitrate(parsing: raw))
    case (Kind.extendedReport, _): self = .extendedReport(try ExtendedReport(parsing: raw))
    default: self = .unknown(type: raw.type, count: raw.count, body: raw.body)
    }
  }

  /// Writes the packet, padded to a multiple of four bytes. A list that is too long for the five-bit count of the
  /// header continues in further packets of the same type (for reports: receiver reports).
  package func write(into buffer: inout ByteBuffer) {
    switch self {
    case .senderReport(let packet): packet.write(into: &buffer)
    case .receiverReport(let packet): packet.write(into: &buffer)
    case .sourceDescription(let packet): packet.write(into: &buffer)
    case .goodbye(let packet): packet.write(into: &buffer)
    case .genericNACK(let packet): packet.write(into: &buffer)
    case .transportFeedback(let packet): packet.write(into: &buffer)
    case .pictureLossIndication(let packet): packet.write(into: &buffer)
    case .fullIntraRequest(let packet): packet.write(into: &buffer)
    case .receiverEstimatedMaximumBitrate(let packet): packet.write(into: &buffer)
    case .extendedReport(let packet): packet.write(into: &buffer)
    case .unknown(let type, let count, let body):
      buffer.writeRTCP(type: type, count: Int(count)) { $0.writeImmutableBuffer(body) }
    }
  }
}

/// Compound packets.
extension RTCPPacket {
  /// Parses a datagram of which every packet must be valid; see ``RTCPCompound`` for one that was received.
  ///
  /// - Throws: `ParseError` of the first malformed packet.
  package static func parse(compound datagram: ByteBuffer) throws(ParseError) -> [RTCPPacket] {
    let compound = RTCPCompound(parsing: datagram)
    if let error = compound.firstError { throw error }
    return compound.packets
  }

  /// Writes packets one after another, as one datagram.
  package static func write(_ packets: [RTCPPacket], into buffer: inout ByteBuffer) {
    for packet in packets { packet.write(into: &buffer) }
  }
}

/// An RTCP packet of a datagram, with its body not yet parsed (RFC 3550, 6.4.1).
struct RawRTCPPacket {
  /// The packet type.
  var type: UInt8
  /// The five bits after the padding bit: a count, subtype or feedback format.
  var count: UInt8
  /// The bytes after the first word, padding excluded.
  var body: ByteBuffer
  /// Whether the P bit was set.
  var isPadded: Bool

  /// Reads one packet from the front of a compound packet.
  ///
  /// Also when it throws, `rest` is what follows the packet; nothing if the length of the packet is impossible.
  init(parsing rest: inout ByteBuffer) throws(ParseError) {
    let found = rest.readableBytes
    guard let (first, type, words) = rest.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else {
      rest.moveReaderIndex(to: rest.writerIndex)
      throw .tooShort("An RTCP header", needs: 4, found: found)
    }
    let content = rest.readSlice(length: 4 * Int(words))
    if content == nil { rest.moveReaderIndex(to: rest.writerIndex) }
    guard first >> 6 == 2 else { throw .wrongVersion("An RTCP packet", found: Int(first >> 6)) }
    guard let body = content else {
      throw .tooShort("An RTCP packet of type \(type)", needs: 4 + 4 * Int(words), found: found)
    }
    self.type = type
    self.body = body
    count = first & 0x1F
    isPadded = first & 0x20 != 0
    if isPadded { try dropPadding() }
  }

  private mutating func dropPadding() throws(ParseError) {
    let available = body.readableBytes
    let announced = available == 0 ? 0 : body.getInteger(at: body.writerIndex - 1, as: UInt8.self) ?? 0
    guard announced > 0, Int(announced) <= available else {
      throw .wrongPadding("An RTCP packet of type \(type)", announced: Int(announced), available: available)
    }
    body.moveWriterIndex(to: body.writerIndex - Int(announced))
  }
}

extension ByteBuffer {
  /// Writes an RTCP header and a body, then sets the length in the header.
  ///
  /// A body that is not a multiple of four bytes is padded, with the P bit set. A packet of more than 262,144 bytes is
  /// left out: its 16-bit length cannot describe it, and no datagram could carry it.
  ///
  /// - Parameter count: 0...31.
  mutating func writeRTCP(type: UInt8, count: Int, body: (inout ByteBuffer) -> Void) {
    let start = writerIndex
    let first = 0x80 | UInt8(truncatingIfNeeded: count & 0x1F)
    writeMultipleIntegers(first, type, UInt16(0))
    body(&self)
    let padding = (start - writerIndex) & 3
    if padding > 0 {
      writeRepeatingByte(0, count: padding - 1)
      writeInteger(UInt8(padding))
      setInteger(first | 0x20, at: start)
    }
    if let words = UInt16(exactly: (writerIndex - start) / 4 - 1) {
      setInteger(words, at: start + 2)
    } else {
      moveWriterIndex(to: start)
    }
  }
}
