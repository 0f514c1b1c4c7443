package import Media
import MediaMessages
package import MediaWorker
package import NIOCore

/// Decodes one video stream: the one place that chooses the decoder of a codec.
package final class VideoDecoder {
  private enum Decoder {
    case vp8(VP8Decoder)
    case vp9(VP9Decoder)
    case worker(WorkerVideoDecoder)
  }

  /// The maximum width and height. A larger frame is refused before anything is allocated for it.
  package static let maximumSide = 4_096

  /// The codec of the stream.
  package let codec: Codec
  private let decoder: Decoder

  /// - Parameter worker: decodes what is not decoded in this process; that of the participant whose stream it is.
  package init(_ codec: Codec, in worker: @autoclosure () -> MediaWorker = MediaWorker()) throws(CodecError) {
    self.codec = codec
    switch codec {
    case .vp8: decoder = .vp8(try VP8Decoder())
    case .vp9: decoder = .vp9(try VP9Decoder())
    case .h264: decoder = .worker(WorkerVideoDecoder(codec, .h264, in: worker()))
    case .opus, .g722, .pcmu, .pcma: throw CodecError("start a decoder of video", "\(codec.properties.name) is audio")
    }
  }

  /// Whether frames of a size are decoded; also true of nil, for a frame that states none.
  package static func accepts(_ size: VideoSize?) -> Bool {
    size.map { (1...maximumSide).contains($0.width) && (1...maximumSide).contains($0.height) } ?? true
  }

  /// Decodes one whole frame and passes the image to `body`.
  ///
  /// - Returns: what `body` returns; nil if the frame is not meant to be shown.
  package func decode<Result>(_ frame: ByteBuffer, _ body: (VideoFrameView) -> Result) throws(CodecError) -> Result? {
    switch decoder {
    case .vp8(let decoder): try decoder.decode(frame, body)
    case .vp9(let decoder): try decoder.decode(frame, body)
    case .worker(let decoder): try decoder.decode(frame, body)
    }
  }

  /// Decodes one whole frame and returns its size only.
  @discardableResult
  package func decode(_ frame: ByteBuffer) throws(CodecError) -> VideoSize? {
    switch decoder {
    case .vp8, .vp9: try decode(frame, \.size)
    case .worker(let decoder): try decoder.decode(frame)
    }
  }
}
