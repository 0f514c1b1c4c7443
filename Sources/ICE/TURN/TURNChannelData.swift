package import NIOCore

/// The framing of data on a channel (RFC 8656, 12.4): channel number, length, payload.
///
/// On a stream the frame is padded to a multiple of four bytes; the length does not count the padding.
package enum TURNChannelData {
  package static let headerLength = 4
  /// The channel numbers of RFC 8656, 12; the other numbers from 0x5000 are reserved.
  package static let channels: ClosedRange<UInt16> = 0x4000...0x4FFF

  /// Whether a datagram or frame is ChannelData by its first byte (RFC 8656, 12).
  package static func isChannelData(_ datagram: ByteBuffer) -> Bool {
    guard let first = datagram.getInteger(at: datagram.readerIndex, as: UInt8.self) else { return false }
    return first >> 4 == 4
  }

  /// Returns the channel number and the payload, which shares the storage of the frame; nil if the length exceeds the
  /// frame. Bytes after the payload are padding and ignored.
  package static func parse(_ frame: ByteBuffer) -> (channel: UInt16, payload: ByteBuffer)? {
    let start = frame.readerIndex
    guard let (channel, length) = frame.getMultipleIntegers(at: start, as: (UInt16, UInt16).self),
      channels.contains(channel), let payload = frame.getSlice(at: start + headerLength, length: Int(length))
    else { return nil }
    return (channel, payload)
  }

  /// Returns the frame of a payload.
  ///
  /// A payload that has four bytes before its reader index and whose storage is not shared is framed in place; any
  /// other is copied.
  ///
  /// - Parameters:
  ///   - payload: at most 65,535 bytes.
  ///   - isPadded: true on a stream.
  package static func frame(_ payload: consuming ByteBuffer, channel: UInt16, isPadded: Bool) -> ByteBuffer {
    let length = payload.readableBytes
    let padding = isPadded ? STUNAttribute.padded(length) - length : 0
    if payload.readerIndex >= headerLength {
      let start = payload.readerIndex - headerLength
      payload.moveReaderIndex(to: start)
      payload.setInteger(UInt32(channel) << 16 | UInt32(UInt16(truncatingIfNeeded: length)), at: start)
      if padding > 0 { payload.writeRepeatingByte(0, count: padding) }
      return payload
    }
    var frame = ByteBuffer()
    frame.reserveCapacity(headerLength + length + padding)
    frame.writeInteger(UInt32(channel) << 16 | UInt32(UInt16(truncatingIfNeeded: length)))
    frame.writeImmutableBuffer(payload)
    if padding > 0 { frame.writeRepeatingByte(0, count: padding) }
    return frame
  }
}
