package import Media

extension SessionDescription {
  /// The codec that each kind of media prefers: that of the first format with a known codec in the first section of the kind that is
  /// not refused. Retransmissions and redundancy are no codecs.
  package var preferredCodecs: [MediaKind: Codec] {
    var codecs: [MediaKind: Codec] = [:]
    for section in sections where section.mediaLine.port != 0 {
      guard let kind = MediaKind(rawValue: section.mediaLine.kind), codecs[kind] == nil else { continue }
      codecs[kind] =
        section.payloadFormats.lazy.compactMap { format in
          Codec.all(of: kind).first { codec in
            format.isCodec(codec.properties.encodingName, clockRate: UInt32(codec.clockRate))
          }
        }.first
    }
    return codecs
  }
}
