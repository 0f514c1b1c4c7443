package import Bitstream
package import NIOCore

/// An RTP packet (RFC 3550, 5.1).
///
/// Parsing copies no bytes: payload and header extensions are slices of the datagram. Writing a parsed packet returns
/// the same bytes, except that padding is written as zeros.
package struct RTPPacket: Sendable, Hashable {
  package static let fixedHeaderSize = 12

  /// The marker bit, as the payload format defines it; for VP8 it marks the last packet of a frame (RFC 7741, 4.1).
  package var marker: Bool
  /// 0...127.
  package var payloadType: UInt8
  package var sequenceNumber: UInt16
  /// The timestamp in ticks of the codec's clock.
  package var timestamp: UInt32
  package var ssrc: UInt32
  /// The sources that a mixer combined; at most 15.
  package var contributingSources: [UInt32]
  package var extensions: RTPHeaderExtensions
  /// The payload, padding excluded.
  package var payload: ByteBuffer
  /// Bytes of padding after the payload, the count byte included; 0 for none (P bit not set).
  package var paddingLength: UInt8

  package init(
    marker: Bool = false, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, ssrc: UInt32,
    contributingSources: [UInt32] = [], extensions: RTPHeaderExtensions = RTPHeaderExtensions(),
    payload: ByteBuffer = ByteBuffer(), paddingLength: UInt8 = 0
  ) {
    self.marker = marker
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.contributingSources = contributingSources
    self.extensions = extensions
    self.payload = payload
    self.paddingLength = paddingLength
  }

  /// Parses a whole decrypted datagram.
  ///
  /// Header extensions are delimited, not parsed: an invalid element affects only itself and those after it.
  package init(parsing datagram: ByteBuffer) throws(ParseError) {
    var rest = datagram
    guard
      let (first, second, sequenceNumber, timestamp, ssrc) = rest.readMultipleIntegers(
        as: (UInt8, UInt8, UInt16, UInt32, UInt32).self)
    else {
      throw .tooShort("An RTP header", needs: Self.fixedHeaderSize, found: datagram.readableBytes)
    }
    guard first >> 6 == 2 else { throw .wrongVersion("An RTP packet", found: Int(first >> 6)) }
    self.marker = second & 0x80 != 0
    self.payloadType = second & 0x7F
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.contributingSources = try Self.readSources(count: Int(first & 0x0F), from: &rest)
    self.extensions = first & 0x10 == 0 ? RTPHeaderExtensions() : try RTPHeaderExtensions(parsing: &rest)
    self.paddingLength = first & 0x20 == 0 ? 0 : try Self.dropPadding(from: &rest)
    self.payload = rest
  }

  /// The number of bytes that `write(into:)` writes.
  package var byteCount: Int {
    Self.fixedHeaderSize + 4 * min(15, contributingSources.count) + extensions.byteCount + payload.readableBytes
      + Int(paddingLength)
  }

  /// Writes the packet; contributing sources after the fifteenth do not fit into the header and are left out.
  package func write(into buffer: inout ByteBuffer) {
    let sources = contributingSources.prefix(15)
    var first: UInt8 = 0x80 | UInt8(sources.count)
    if paddingLength > 0 { first |= 0x20 }
    if extensions.isPresent { first |= 0x10 }
    buffer.reserveCapacity(minimumWritableBytes: byteCount)
    // At once, because each separate write of an integer checks the buffer again.
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.fixedHeaderSize) { header in
      header[0] = first
      header[1] = (marker ? 0x80 : 0) | (payloadType & 0x7F)
      header.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: 2, as: UInt16.self)
      header.storeBytes(of: timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
      header.storeBytes(of: ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)
      return Self.fixedHeaderSize
    }
    for source in sources { buffer.writeInteger(source) }
    extensions.write(into: &buffer)
    buffer.writeImmutableBuffer(payload)
    if paddingLength > 0 {
      buffer.writeRepeatingByte(0, count: Int(paddingLength) - 1)
      buffer.writeInteger(paddingLength)
    }
  }

  private static func readSources(count: Int, from rest: inout ByteBuffer) throws(ParseError) -> [UInt32] {
    if count == 0 { return [] }
    let found = rest.readableBytes
    var sources: [UInt32] = []
    sources.reserveCapacity(count)
    for _ in 0..<count {
      guard let source = rest.readInteger(as: UInt32.self) else {
        throw .tooShort("An RTP header's list of \(count) contributing sources", needs: 4 * count, found: found)
      }
      sources.append(source)
    }
    return sources
  }

  private static func dropPadding(from rest: inout ByteBuffer) throws(ParseError) -> UInt8 {
    let available = rest.readableBytes
    let count = available == 0 ? 0 : rest.getInteger(at: rest.writerIndex - 1, as: UInt8.self) ?? 0
    guard count > 0, Int(count) <= available else {
      throw .wrongPadding("An RTP packet", announced: Int(count), available: available)
    }
    rest.moveWriterIndex(to: rest.writerIndex - Int(count))
    return count
  }
}
