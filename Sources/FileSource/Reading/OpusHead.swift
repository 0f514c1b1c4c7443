/// The header of an Opus stream: Ogg's first packet and WebM's CodecPrivate (RFC 7845, 5.1).
struct OpusHead: Hashable {
  var channels: Int
  /// 48 kHz samples at the start that are not to be heard.
  var preSkip: Int64
  /// 0 is one or two channels; anything else is several streams in one, which RTP has no place for (RFC 7587).
  var mappingFamily: Int

  /// Reads a header; nil when the bytes are none.
  init?(parsing bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(19))
    guard bytes.count == 19, bytes.starts(with: Array("OpusHead".utf8)) else { return nil }
    // The upper four bits are the version, and any of 0 can be read (RFC 7845, 5.1).
    guard bytes[8] & 0xf0 == 0, bytes[9] > 0 else { return nil }
    channels = Int(bytes[9])
    preSkip = Int64(bytes[10]) | Int64(bytes[11]) << 8
    mappingFamily = Int(bytes[18])
  }

  /// Refuses what a call cannot carry.
  func refuseMoreThanStereo() throws(MediaFile.ReadError) {
    if channels > 2 { throw .unsupported("its audio has \(channels) channels, and a call carries one or two") }
    if mappingFamily != 0 {
      throw .unsupported("its audio has channel mapping family \(mappingFamily), and a call carries family 0 only")
    }
  }
}
