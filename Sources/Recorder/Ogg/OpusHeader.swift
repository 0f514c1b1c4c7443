import NIOCore

/// The two headers of an Opus stream in a file (RFC 7845, 5).
enum OpusHeader {
  /// How far the audio lags behind its packets, in ticks of 48 kHz: the lookahead of libopus at 48 kHz, which browsers use.
  static let preSkip: UInt16 = 312

  /// `OpusHead` (RFC 7845, 5.1): also the codec's private data in WebM.
  static func identification(channels: Int) -> ByteBuffer {
    var bytes = ByteBuffer(string: "OpusHead")
    bytes.writeInteger(1 as UInt8)
    bytes.writeInteger(UInt8(clamping: channels))
    bytes.writeInteger(preSkip, endianness: .little)
    bytes.writeInteger(48_000 as UInt32, endianness: .little)
    bytes.writeInteger(0 as Int16, endianness: .little)
    // Mapping family 0: one or two channels, one stream.
    bytes.writeInteger(0 as UInt8)
    return bytes
  }

  /// `OpusTags` (RFC 7845, 5.2) with no comments.
  static var comments: ByteBuffer {
    let vendor = "chatbot"
    var bytes = ByteBuffer(string: "OpusTags")
    bytes.writeInteger(UInt32(vendor.utf8.count), endianness: .little)
    bytes.writeString(vendor)
    bytes.writeInteger(0 as UInt32, endianness: .little)
    return bytes
  }
}
