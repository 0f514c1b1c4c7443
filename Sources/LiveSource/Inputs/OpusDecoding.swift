import Codecs
import NIOCore

/// Opus packets as sound.
final class OpusDecoding: SoundDecoding {
  let channels: Int
  private let decoder: OpusDecoder

  init(channels: Int) throws(InputRefusal) {
    self.channels = channels
    decoder = try coding { () throws(CodecFailure) in try OpusDecoder(channels: channels) }
  }

  func decode(_ packet: ByteBuffer) throws(InputRefusal) -> (samples: [Float], ticks: Int64) {
    let decoder = decoder
    let sound = try coding { () throws(CodecFailure) in try decoder.decode(packet) }
    return (sound.samples, Int64(sound.count))
  }

  func finish() -> [Float] { [] }
}
