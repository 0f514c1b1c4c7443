package import Media

/// The decoders of one track, which may change its codec with any frame.
///
/// The decoders of earlier codecs are kept for a while, because a process that decodes ends with its last decoder: a sender that changes
/// back and forth costs no start of a decoder or of a process each time.
package struct DecodersByCodec<Decoder> {
  private var decoders: [Codec: Decoder] = [:]
  private var codec: Codec?
  private var framesSinceChange = 0

  /// After so many frames of a codec the decoders of others are released.
  package static var maximumFrames: Int { 1_000 }

  package init() {}

  /// The decoder of the last frame's codec.
  package var current: Decoder? { codec.flatMap { decoders[$0] } }

  /// Returns the decoder of the next frame.
  ///
  /// - Parameters:
  ///   - isStart: whether decoding can start with the frame.
  ///   - make: makes a decoder of the codec.
  package mutating func decoder(
    of codec: Codec, isStart: Bool, make: () throws(CodecError) -> Decoder
  ) throws(CodecError) -> Decoder {
    if self.codec != codec {
      // A decoder that comes back has old frames, to which the new ones do not refer.
      guard isStart || decoders[codec] == nil else {
        throw CodecError("decode a frame of \(codec.properties.name)", "the codec changed without a keyframe")
      }
      self.codec = codec
      framesSinceChange = 0
    }
    framesSinceChange += 1
    if framesSinceChange == Self.maximumFrames { decoders = decoders.filter { $0.key == codec } }
    if let known = decoders[codec] { return known }
    let made = try make()
    decoders[codec] = made
    return made
  }
}
