package import NIOCore

/// Bytes on a connection that are neither STUN nor ChannelData.
package enum TURNStreamError: Error, Sendable, Hashable, CustomStringConvertible {
  case unknownFrame(firstByte: UInt8)
  case wrongCookie(UInt32)
  case frameTooLong(bytes: Int)
  case unalignedMessage(length: Int)

  package var description: String {
    switch self {
    case .unknownFrame(let firstByte):
      "A frame starts with a byte from 0 to 63 (STUN) or 64 to 79 (ChannelData), but this one is \(firstByte)."
    case .wrongCookie(let cookie):
      "A STUN message has the magic cookie 2112a442, but this one has \(String(cookie, radix: 16))."
    case .frameTooLong(let bytes):
      "A frame has at most \(TURNStreamSplitter.maximumFrame) bytes, but this one announces \(bytes)."
    case .unalignedMessage(let length):
      "The length of a STUN message is a multiple of 4, but this one is \(length)."
    }
  }
}

/// Splits the bytes of a connection into STUN messages and ChannelData (RFC 8656, 3.1 and 12.5).
///
/// It keeps at most one incomplete frame, which has at most 64 KiB. Complete frames inside a chunk are slices of it.
/// After an error the connection is unusable.
package struct TURNStreamSplitter: Sendable {
  /// The bytes of the longest frame, including header and padding.
  package static let maximumFrame = 65_536
  /// Enough bytes of a frame to check it and to know its length.
  private static let checkedLength = 8

  private var partial = ByteBuffer()

  package init() {}

  /// The bytes of the incomplete frame.
  package var buffered: Int { partial.readableBytes }

  /// Reads the next whole frame, with its padding; nil when the chunk is used up.
  package mutating func next(from chunk: inout ByteBuffer) throws(TURNStreamError) -> ByteBuffer? {
    if partial.readableBytes == 0 {
      guard let length = try Self.frameLength(chunk), length <= chunk.readableBytes else {
        return try keep(from: &chunk)
      }
      return chunk.readSlice(length: length)
    }
    return try keep(from: &chunk)
  }

  /// Appends to the incomplete frame and returns it if it is complete.
  private mutating func keep(from chunk: inout ByteBuffer) throws(TURNStreamError) -> ByteBuffer? {
    while true {
      let length = try Self.frameLength(partial)
      if let length, partial.readableBytes >= length {
        defer { partial = ByteBuffer() }
        return partial
      }
      let missing = (length ?? Self.checkedLength) - partial.readableBytes
      // ChannelData of fewer than five bytes is shorter than what is read to check a STUN message.
      let wanted = length == nil && partial.readableBytes < 4 ? 4 - partial.readableBytes : missing
      guard let bytes = chunk.readSlice(length: min(wanted, chunk.readableBytes)), bytes.readableBytes > 0 else {
        return nil
      }
      if let length { partial.reserveCapacity(length) }
      partial.writeImmutableBuffer(bytes)
    }
  }

  /// Returns the length of the frame at the start of the bytes, or nil if more bytes are needed to know it.
  private static func frameLength(_ bytes: ByteBuffer) throws(TURNStreamError) -> Int? {
    let start = bytes.readerIndex
    guard let first = bytes.getInteger(at: start, as: UInt8.self) else { return nil }
    guard first < 0x50 else { throw .unknownFrame(firstByte: first) }
    guard let length = bytes.getInteger(at: start + 2, as: UInt16.self).map(Int.init) else { return nil }
    let frame: Int
    if first >= 0x40 {
      frame = TURNChannelData.headerLength + STUNAttribute.padded(length)
    } else {
      guard length % 4 == 0 else { throw .unalignedMessage(length: length) }
      guard let cookie = bytes.getInteger(at: start + 4, as: UInt32.self) else { return nil }
      guard cookie == STUNMessage.magicCookie else { throw .wrongCookie(cookie) }
      frame = STUNMessage.headerLength + length
    }
    guard frame <= maximumFrame else { throw .frameTooLong(bytes: frame) }
    return frame
  }
}
