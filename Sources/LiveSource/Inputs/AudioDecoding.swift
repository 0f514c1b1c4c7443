import Codecs
import FileSource
import NIOCore

/// A decoder of one track's packets to audio at 48 kHz.
protocol AudioDecoding: AnyObject {
  /// 1 or 2.
  var channels: Int { get }

  /// Decodes one packet.
  ///
  /// - Returns: samples of each channel in turn, and for how many ticks of 48 kHz the packet stands. A decoder that has to
  ///   resample gives some of its samples later.
  func decode(_ packet: ByteBuffer) throws(InputError) -> (samples: [Float], ticks: Int64)

  /// Gives what is left.
  func finish() -> [Float]
}

extension StoredTrack {
  /// A decoder of the track, at its start.
  func audioDecoder() throws(InputError) -> any AudioDecoding {
    codec == .vorbis ? try VorbisDecoding(codecPrivate) : try OpusDecoding(channels: channels == 2 ? 2 : 1)
  }
}

/// Opus packets as audio.
final class OpusDecoding: AudioDecoding {
  let channels: Int
  private let decoder: OpusDecoder

  init(channels: Int) throws(InputError) {
    self.channels = channels
    decoder = try coding { () throws(CodecError) in try OpusDecoder(channels: channels) }
  }

  func decode(_ packet: ByteBuffer) throws(InputError) -> (samples: [Float], ticks: Int64) {
    let decoder = decoder
    let audio = try coding { () throws(CodecError) in try decoder.decode(packet) }
    return (audio.samples, Int64(audio.count))
  }

  func finish() -> [Float] { [] }
}
