package import Media
import MediaMessages
package import MediaWorker
package import NIOCore

/// Decodes one audio stream to 48 kHz: the one place that chooses the decoder of a codec.
package final class AudioDecoder {
  private enum Decoder {
    case opus(OpusDecoder)
    case telephone(TelephoneDecoder)
  }

  /// The codec of the stream.
  package let codec: Codec
  /// The number of channels of what is decoded.
  package let channels: Int
  private let decoder: Decoder

  /// - Parameters:
  ///   - channels: the number of output channels, 1 or 2, regardless of the packets.
  ///   - worker: decodes what is not decoded in this process; that of the participant whose stream it is. Nil for one of its own.
  ///   - isPrecise: whether a rate below 48 kHz is raised by a steeper filter, of a longer ``delay``.
  package init(
    _ codec: Codec, channels: Int = 2, in worker: MediaWorker? = nil, isPrecise: Bool = false
  ) throws(CodecError) {
    self.codec = codec
    self.channels = channels
    let name = codec.properties.name
    switch codec.audio {
    case .opus: decoder = .opus(try OpusDecoder(channels: channels))
    case .g722:
      let source = TelephoneDecoder.Source.worker(StreamDecoder(.g722, in: worker ?? MediaWorker()))
      decoder = .telephone(TelephoneDecoder(name, source, channels: channels, isPrecise: isPrecise))
    case .pcmu:
      decoder = .telephone(TelephoneDecoder(name, .table(G711.muLaw), channels: channels, isPrecise: isPrecise))
    case .pcma:
      decoder = .telephone(TelephoneDecoder(name, .table(G711.aLaw), channels: channels, isPrecise: isPrecise))
    case nil: throw CodecError("start a decoder of audio", "\(codec.properties.name) is video")
    }
  }

  /// By how much raising the rate makes the output later, in ticks of 48 kHz; 0 for a codec of that rate.
  package var delay: Int {
    switch decoder {
    case .opus: 0
    case .telephone(let decoder): decoder.delay
    }
  }

  /// Returns what ``delay`` still holds of the packets so far; the next packet follows silence. Nil where there is no delay.
  package func drain() -> AudioSamples? {
    switch decoder {
    case .opus: nil
    case .telephone(let decoder): decoder.drain()
    }
  }

  /// Decodes one whole packet.
  package func decode(_ packet: ByteBuffer) throws(CodecError) -> AudioSamples {
    switch decoder {
    case .opus(let decoder): try decoder.decode(packet)
    case .telephone(let decoder): try decoder.decode(packet)
    }
  }

  /// The longest packet in ticks of 48 kHz.
  package var maximumPacketSamples: Int {
    switch decoder {
    case .opus, .telephone: OpusDecoder.maximumPacketSamples
    }
  }

  /// Generates audio to conceal a lost packet.
  ///
  /// - Parameter duration: in ticks of 48 kHz, a multiple of 120, at most ``maximumPacketSamples``.
  package func conceal(duration: Int) throws(CodecError) -> AudioSamples {
    switch decoder {
    case .opus(let decoder): try decoder.conceal(duration: duration)
    case .telephone(let decoder): decoder.conceal(duration: duration)
    }
  }

  /// Recovers the lost packet before `next` from the copy in it; see ``AudioHeader/carriesCopy``.
  ///
  /// - Parameter duration: the length of the lost packet in ticks of 48 kHz, a multiple of 120.
  package func recover(duration: Int, before next: ByteBuffer) throws(CodecError) -> AudioSamples {
    switch decoder {
    case .opus(let decoder): try decoder.recover(duration: duration, before: next)
    case .telephone(let decoder): decoder.conceal(duration: duration)
    }
  }
}
