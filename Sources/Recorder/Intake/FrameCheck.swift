import Codecs
import Media

/// Decodes every frame, to know whether it can be.
final class FrameCheck {
  private var picture: VP8Decoder?
  private var sound: OpusDecoder?
  private(set) var videoErrors: UInt64 = 0
  private(set) var audioErrors: UInt64 = 0
  /// The size of the last picture that was decoded.
  private(set) var lastSize: PictureSize?

  /// Takes the next frame of a track in decoding order.
  ///
  /// - Returns: whether it could be decoded.
  func examine(_ frame: EncodedFrame) -> Bool {
    do {
      switch frame.codec {
      case .vp8:
        let decoder = try picture ?? VP8Decoder()
        picture = decoder
        lastSize = try decoder.decode(frame.payload) ?? lastSize
      case .opus:
        let decoder = try sound ?? OpusDecoder()
        sound = decoder
        _ = try decoder.decode(frame.payload)
      }
      return true
    } catch {
      if frame.codec.kind == .video { videoErrors += 1 } else { audioErrors += 1 }
      return false
    }
  }
}
