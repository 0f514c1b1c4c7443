import Bitstream
package import NIOCore

/// A DATA chunk: a message or a fragment of one (RFC 9260, 3.3.1).
package struct DataChunk: Sendable, Hashable {
  package var tsn: UInt32
  package var stream: UInt16
  /// The stream sequence number, without a meaning in an unordered message.
  package var streamSequenceNumber: UInt16
  /// The payload protocol identifier, which SCTP only transports.
  package var protocolID: UInt32
  package var payload: ByteBuffer
  /// The U bit.
  package var isUnordered = false
  /// The B and E bits: whether this is the first, or the last, fragment of its message.
  package var isFirst = true
  package var isLast = true
  /// The I bit: the receiver should send its SACK at once (RFC 7053).
  package var wantsImmediateAck = false

  static let headerLength = 16

  package init(
    tsn: UInt32, stream: UInt16, streamSequenceNumber: UInt16, protocolID: UInt32, payload: ByteBuffer
  ) {
    self.tsn = tsn
    self.stream = stream
    self.streamSequenceNumber = streamSequenceNumber
    self.protocolID = protocolID
    self.payload = payload
  }

  init(parsing raw: RawChunk) throws(ParseError) {
    var rest = raw.body
    guard
      let (tsn, stream, sequence, protocolID) = rest.readMultipleIntegers(
        as: (UInt32, UInt16, UInt16, UInt32).self)
    else { throw .tooShort("A DATA chunk", needs: Self.headerLength, found: 4 + raw.body.readableBytes) }
    self.init(tsn: tsn, stream: stream, streamSequenceNumber: sequence, protocolID: protocolID, payload: rest)
    isLast = raw.flags & 1 != 0
    isFirst = raw.flags & 2 != 0
    isUnordered = raw.flags & 4 != 0
    wantsImmediateAck = raw.flags & 8 != 0
  }

  /// The length with header and padding in bytes.
  var paddedLength: Int { (Self.headerLength + payload.readableBytes + 3) & ~3 }

  func write(into buffer: inout ByteBuffer) {
    var flags: UInt8 = isLast ? 1 : 0
    if isFirst { flags |= 2 }
    if isUnordered { flags |= 4 }
    if wantsImmediateAck { flags |= 8 }
    guard let length = UInt16(exactly: Self.headerLength + payload.readableBytes) else { return }
    buffer.writeMultipleIntegers(
      SCTPChunk.Kind.data, flags, length, tsn, stream, streamSequenceNumber, protocolID)
    buffer.writeImmutableBuffer(payload)
    let padding = -Int(length) & 3
    if padding > 0 { buffer.writeRepeatingByte(0, count: padding) }
  }
}
