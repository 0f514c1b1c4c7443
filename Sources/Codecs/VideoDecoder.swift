import Bitstream
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
  private var decoder: Decoder
  /// The worker that decodes what this process decodes as well; nil if there is none, or not any more.
  private var replaceable: MediaWorker?

  /// - Parameters:
  ///   - worker: that of the participant whose stream it is; nil for one of its own.
  ///   - prefersWorker: whether the worker also decodes VP8 and VP9. Where there is none, or where others need it, they are decoded in this
  ///     process from a keyframe on, if it may.
  ///   - decodesHere: whether this process may decode in place of a worker.
  package init(
    _ codec: Codec, in worker: MediaWorker? = nil, prefersWorker: Bool = false, decodesHere: Bool = true
  ) throws(CodecError) {
    self.codec = codec
    let worker = worker ?? MediaWorker()
    switch codec {
    case .vp8 where prefersWorker:
      decoder = .worker(WorkerVideoDecoder(codec, .vp8, isReplaceable: decodesHere, in: worker))
      replaceable = decodesHere ? worker : nil
    case .vp9 where prefersWorker:
      decoder = .worker(WorkerVideoDecoder(codec, .vp9, isReplaceable: decodesHere, statesSizes: true, in: worker))
      replaceable = decodesHere ? worker : nil
    case .vp8, .vp9: decoder = try Self.local(codec)
    case .h264: decoder = .worker(WorkerVideoDecoder(codec, .h264, in: worker))
    case .opus, .g722, .pcmu, .pcma: throw CodecError("start a decoder of video", "\(codec.properties.name) is audio")
    }
  }

  /// A decoder of this process.
  private static func local(_ codec: Codec) throws(CodecError) -> Decoder {
    switch codec {
    case .vp8: .vp8(try VP8Decoder())
    case .vp9: .vp9(try VP9Decoder())
    case .h264, .opus, .g722, .pcmu, .pcma:
      throw CodecError("start a decoder", "\(codec.properties.name) is not decoded in this process")
    }
  }

  /// Whether frames fail up to the next keyframe, and could be decoded from there on.
  package var lacksKeyframe: Bool {
    if case .worker(let decoder) = decoder { decoder.lacksKeyframe } else { false }
  }

  /// Whether a frame may be decoded without an error although one that it refers to was refused. The decoders of VP8 and VP9 refuse such
  /// frames themselves.
  ///
  /// - Parameter frame: the frame that was refused.
  package static func hidesLoss(of frame: ByteBuffer, _ codec: Codec) -> Bool {
    // What cannot be parsed may have been a reference.
    codec == .h264 && (try? H264FrameHeader(parsing: frame))?.isReference ?? true
  }

  /// Whether frames of a size are decoded; also true of nil, for a frame that states none.
  package static func accepts(_ size: VideoSize?) -> Bool {
    size.map { (1...maximumSide).contains($0.width) && (1...maximumSide).contains($0.height) } ?? true
  }

  /// Decodes one whole frame and passes the image to `body`.
  ///
  /// - Returns: what `body` returns; nil if the frame is not meant to be shown.
  package func decode<Result>(_ frame: ByteBuffer, _ body: (VideoFrameView) -> Result) throws(CodecError) -> Result? {
    try decode(frame) { decoder throws(CodecError) in
      switch decoder {
      case .vp8(let decoder): try decoder.decode(frame, body)
      case .vp9(let decoder): try decoder.decode(frame, body)
      case .worker(let decoder): try decoder.decode(frame, body)
      }
    }
  }

  /// Decodes one whole frame and returns its size only.
  @discardableResult
  package func decode(_ frame: ByteBuffer) throws(CodecError) -> VideoSize? {
    try decode(frame) { decoder throws(CodecError) in
      switch decoder {
      case .vp8(let decoder): try decoder.decode(frame, \.size)
      case .vp9(let decoder): try decoder.decode(frame, \.size)
      case .worker(let decoder): try decoder.decode(frame)
      }
    }
  }

  /// Decodes a frame by the decoder, and takes one of this process in its place from a keyframe on where that is needed.
  private func decode<Result>(
    _ frame: ByteBuffer, _ attempt: (Decoder) throws(CodecError) -> Result?
  ) throws(CodecError) -> Result? {
    guard let worker = replaceable else { return try attempt(decoder) }
    func isKeyframe() -> Bool { FrameHeader(parsing: frame, of: codec).isKeyframe }
    if !(worker.isToBeReplaced && isKeyframe()) {
      do throws(CodecError) {
        return try attempt(decoder)
      } catch {
        guard error.isUnavailable, !worker.isSuspect, isKeyframe() else { throw error }
      }
    }
    decoder = try Self.local(codec)
    replaceable = nil
    return try attempt(decoder)
  }
}
