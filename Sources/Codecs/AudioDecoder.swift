package import Media
package import NIOCore

/// Decodes one audio stream to 48 kHz: the one place that chooses the decoder of a codec.
package final class AudioDecoder {
  private enum Decoder {
    case opus(OpusDecoder)
  }

  /// The codec of the stream.
  package let codec: Codec
  /// The number of channels of what is decoded.
  package let channels: Int
  private let decoder: Decoder

  /// - Parameter channels: the number of output channels, 1 or 2, regardless of the packets.
  package init(_ codec: Codec, channels: Int = 2) throws(CodecError) {
    self.codec = codec
    self.channels = channels
    switch codec {
    case .opus: decoder = .opus(try OpusDecoder(channels: channels))
    case .g722, .pcmu, .pcma:
      throw CodecError("start a decoder of \(codec.properties.name)", "no decoder of it is installed")
    case .vp8, .h264, .vp9: throw CodecError("start a decoder of audio", "\(codec.properties.name) is video")
    }
  }

  /// Decodes one whole packet.
  package func decode(_ packet: ByteBuffer) throws(CodecError) -> AudioSamples {
    switch decoder {
    case .opus(let decoder): try decoder.decode(packet)
    }
  }

  /// The longest packet in ticks of 48 kHz.
  package var maximumPacketSamples: Int {
    switch decoder {
    case .opus: OpusDecoder.maximumPacketSamples
    }
  }

  /// Generates audio to conceal a lost packet.
  ///
  /// - Parameter duration: in ticks of 48 kHz, a multiple of 120, at most ``maximumPacketSamples``.
  package func conceal(duration: Int) throws(CodecError) -> AudioSamples {
    switch decoder {
    case .opus(let decoder): try decoder.conceal(duration: duration)
    }
  }

  /// Recovers the lost packet before `next` from the copy in it; see ``AudioHeader/carriesCopy``.
  ///
  /// - Parameter duration: the length of the lost packet in ticks of 48 kHz, a multiple of 120.
  package func recover(duration: Int, before next: ByteBuffer) throws(CodecError) -> AudioSamples {
    switch decoder {
    case .opus(let decoder): try decoder.recover(duration: duration, before: next)
    }
  }
}
