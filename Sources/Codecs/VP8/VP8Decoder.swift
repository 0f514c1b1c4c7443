import CVPX
package import Media
package import NIOCore

/// Decodes one VP8 stream.
package final class VP8Decoder {
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>

  package init() throws(CodecError) {
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    var settings = vpx_codec_dec_cfg_t()
    settings.threads = 1
    let code = chatbot_vp8_decoder_init(context, &settings)
    if code != VPX_CODEC_OK {
      throw CodecError("start a VP8 decoder", vpx: code)
    }
  }

  deinit {
    vpx_codec_destroy(context)
    context.deinitialize(count: 1)
    context.deallocate()
  }

  /// Returns the size in a keyframe's header; nil for every other frame (RFC 6386, 9.1).
  package static func keyframeSize(of frame: ByteBuffer) throws(CodecError) -> VideoSize? {
    var about = vpx_codec_stream_info_t()
    about.sz = UInt32(MemoryLayout<vpx_codec_stream_info_t>.size)
    let code = frame.withUnsafeReadableBytes { bytes in
      vpx_codec_peek_stream_info(
        vpx_codec_vp8_dx(), bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(clamping: bytes.count), &about)
    }
    let first = frame.getInteger(at: frame.readerIndex, as: UInt8.self) ?? 1
    if first & 1 == 1 { return nil }
    let action = "read a VP8 keyframe of \(frame.readableBytes) bytes"
    if code != VPX_CODEC_OK { throw CodecError(action, vpx: code) }
    if about.w == 0 || about.h == 0 { throw CodecError(action, "its header is cut short") }
    if about.w > VideoDecoder.maximumSide || about.h > VideoDecoder.maximumSide {
      throw CodecError(action, "\(about.w)x\(about.h) is above \(VideoDecoder.maximumSide)x\(VideoDecoder.maximumSide)")
    }
    return VideoSize(width: Int(about.w), height: Int(about.h))
  }

  /// Decodes one whole frame and passes the image to `body`.
  ///
  /// - Returns: what `body` returns; nil if the frame is not meant to be shown.
  package func decode<Result>(_ frame: ByteBuffer, _ body: (VideoFrameView) -> Result) throws(CodecError) -> Result? {
    let action = "decode a VP8 frame of \(frame.readableBytes) bytes"
    if frame.readableBytes == 0 { throw CodecError(action, "it is empty") }
    _ = try Self.keyframeSize(of: frame)
    let code = frame.withUnsafeReadableBytes { bytes in
      vpx_codec_decode(
        context, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(clamping: bytes.count), nil, 0)
    }
    if code != VPX_CODEC_OK { throw CodecError(action, vpx: code) }
    var corrupted: Int32 = 0
    if chatbot_vp8_decoder_get_corrupted(context, &corrupted) == VPX_CODEC_OK, corrupted != 0 {
      throw CodecError(action, "it is damaged, or an earlier frame was")
    }
    var position: vpx_codec_iter_t?
    guard let image = vpx_codec_get_frame(context, &position), let view = VideoFrameView(image.pointee) else {
      return nil
    }
    return body(view)
  }

  /// Decodes one whole frame and returns its size only.
  @discardableResult
  package func decode(_ frame: ByteBuffer) throws(CodecError) -> VideoSize? {
    try decode(frame, \.size)
  }
}
