import Codecs
import FileSource
import NIOCore

/// A decoder of one of the codecs that files hold.
final class VideoDecoding {
  private enum Decoder {
    case vp8(VP8Decoder)
    case vp9(VP9Decoder)
  }

  private let decoder: Decoder

  init(_ codec: StoredCodec) throws(InputError) {
    decoder = try coding { () throws(CodecError) in
      codec == .vp9 ? .vp9(try VP9Decoder()) : .vp8(try VP8Decoder())
    }
  }

  /// Decodes one frame.
  ///
  /// - Returns: nil when the frame is not meant to be shown.
  func decode(_ frame: ByteBuffer) throws(CodecError) -> VideoFrame? {
    switch decoder {
    case .vp8(let decoder): try decoder.decode(frame, \.copy)
    case .vp9(let decoder): try decoder.decode(frame, \.copy)
    }
  }
}
