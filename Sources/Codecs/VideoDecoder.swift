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
    guard codec.kind == .video else {
      throw CodecError("start a decoder of video", "\(codec.properties.name) is audio")
    }
    guard prefersWorker || codec.needsWorker else {
      decoder = try Self.local(codec)
      return
    }
    guard let mediaCodec = MediaCodec(name: codec.rawValue) else {
      throw CodecError("start a decoder", "\(codec.properties.name) is not decoded")
    }
    let worker = worker ?? MediaWorker()
    let isReplaceable = decodesHere && !codec.needsWorker
    decoder = .worker(WorkerVideoDecoder(codec, mediaCodec, isReplaceable: isReplaceable, in: worker))
    if isReplaceable { replaceable = worker }
  }

  /// A decoder of this process.
  private static func local(_ codec: Codec) throws(CodecError) -> Decoder {
    switch codec.properties.decoder {
    case .libvpxVP8: .vp8(try VP8Decoder())
    case .libvpxVP9: .vp9(try VP9Decoder())
    case .libopus, .worker, nil:
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
    codec.properties.bitstream?.hidesLoss(of: frame) ?? false
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

  /// Decodes one whole frame and passes to `body` all images that can be shown then, in the order of output, each with the time of its
  /// frame. A decoder keeps the frames of a codec that reorders them, so an image may come with a later frame.
  ///
  /// - Parameter time: of the frame, in any unit.
  package func decode(
    _ frame: ByteBuffer, time: Int64, each body: (VideoFrameView, _ time: Int64) -> Void
  ) throws(CodecError) {
    _ = try decode(frame) { decoder throws(CodecError) -> Void? in
      switch decoder {
      case .vp8(let decoder): try decoder.decode(frame) { body($0, time) }
      case .vp9(let decoder): try decoder.decode(frame) { body($0, time) }
      case .worker(let decoder): try decoder.decode(frame, time: time, each: body)
      }
    }
  }

  /// Passes to `body` the images that the decoder keeps, as at the end of a stream. It then starts again with a keyframe.
  package func drain(each body: (VideoFrameView, _ time: Int64) -> Void) throws(CodecError) {
    if case .worker(let decoder) = decoder { try decoder.drain(each: body) }
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
