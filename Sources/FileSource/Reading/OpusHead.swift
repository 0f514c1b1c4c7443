/// The header of an Opus stream: the first packet of Ogg and the CodecPrivate of WebM (RFC 7845, 5.1).
struct OpusHead: Hashable {
  var channels: Int
  /// The number of 48 kHz samples to discard at the start.
  var preSkip: Int64
  /// 0 means one or two channels; others mean several streams in one packet, which RTP cannot carry (RFC 7587).
  var mappingFamily: Int

  /// Parses a header; nil if the bytes are not one.
  init?(parsing bytes: some Collection<UInt8>) {
    let bytes = Array(bytes.prefix(19))
    guard bytes.count == 19, bytes.starts(with: Array("OpusHead".utf8)) else { return nil }
    // The upper four bits are the major version; all versions with major version 0 are compatible (RFC 7845, 5.1).
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
