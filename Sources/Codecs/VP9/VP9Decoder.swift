import Bitstream
import CVPX
package import NIOCore

/// Decodes one VP9 stream of profile 0, or of profile 2, of whose samples the upper 8 bits are kept.
package final class VP9Decoder {
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  /// Whether a frame was too large: later frames could depend on it, up to the next keyframe.
  private var isBroken = false

  package init() throws(CodecError) {
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    try start()
  }

  private func start() throws(CodecError) {
    var settings = vpx_codec_dec_cfg_t()
    settings.threads = 1
    let code = chatbot_vp9_decoder_init(context, &settings)
    if code != VPX_CODEC_OK {
      throw CodecError("start a VP9 decoder", vpx: code)
    }
  }

  deinit {
    vpx_codec_destroy(context)
    context.deinitialize(count: 1)
    context.deallocate()
  }

  /// Decodes one whole frame, or a superframe of several, and passes the last image to `body`.
  ///
  /// - Returns: what `body` returns; nil if the frame is not meant to be shown.
  package func decode<Result>(_ frame: ByteBuffer, _ body: (VideoFrameView) -> Result) throws(CodecError) -> Result? {
    let action = "decode a VP9 frame of \(frame.readableBytes) bytes"
    if frame.readableBytes == 0 { throw CodecError(action, "it is empty") }
    try Self.checkStatedSizes(in: frame, isBroken: &isBroken, action)
    let isKeyframe = try checkSize(of: frame, action)
    if isBroken {
      guard isKeyframe else { throw CodecError(action, "an earlier frame was too large") }
      vpx_codec_destroy(context)
      try start()
      isBroken = false
    }
    let code = frame.withUnsafeReadableBytes { bytes in
      vpx_codec_decode(
        context, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(clamping: bytes.count), nil, 0)
    }
    try checkSizeOfLast(action)
    if code != VPX_CODEC_OK { throw CodecError(action, vpx: code) }
    var position: vpx_codec_iter_t?
    guard let image = vpx_codec_get_frame(context, &position) else { return nil }
    if let view = VideoFrameView(image.pointee) { return body(view) }
    guard let result = VideoFrameView.narrowing(image.pointee, body) else {
      throw CodecError(action, "its colours are not at half the width and height")
    }
    return result
  }

  /// Refuses a unit of which any frame is of another profile or states a size that is too large, before anything is allocated for it. A frame that takes
  /// the size of an earlier one states none.
  ///
  /// - Parameter isBroken: becomes true if a frame is too large: later frames could depend on it, up to the next keyframe.
  static func checkStatedSizes(in unit: ByteBuffer, isBroken: inout Bool, _ action: String) throws(CodecError) {
    let superframe: VP9Superframe
    do throws(ParseError) {
      superframe = try VP9Superframe(parsing: unit)
    } catch {
      throw CodecError(action, error.description)
    }
    for frame in superframe.frames {
      guard let header = try? VP9FrameHeader(parsing: frame) else { continue }
      if header.profile & 1 == 1 {
        throw CodecError(action, "it is VP9 of profile \(header.profile), and only the profiles 0 and 2 are decoded")
      }
      guard let size = header.size else { continue }
      do throws(CodecError) {
        try check(width: UInt32(clamping: size.width), height: UInt32(clamping: size.height), action)
      } catch {
        isBroken = true
        throw error
      }
    }
  }

  /// Refuses a keyframe that is too large before anything is allocated for it.
  ///
  /// - Returns: whether it is a keyframe.
  private func checkSize(of frame: ByteBuffer, _ action: String) throws(CodecError) -> Bool {
    var about = vpx_codec_stream_info_t()
    about.sz = UInt32(MemoryLayout<vpx_codec_stream_info_t>.size)
    let code = frame.withUnsafeReadableBytes { bytes in
      vpx_codec_peek_stream_info(
        vpx_codec_vp9_dx(), bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(clamping: bytes.count), &about)
    }
    guard code == VPX_CODEC_OK else { return false }
    try Self.check(width: about.w, height: about.h, action)
    return about.is_kf != 0
  }

  /// Refuses a frame that has become too large: the size can change without a keyframe, in a frame that is not shown.
  private func checkSizeOfLast(_ action: String) throws(CodecError) {
    var size: [Int32] = [0, 0]
    guard chatbot_vp9_decoder_get_size(context, &size) == VPX_CODEC_OK else { return }
    do {
      try Self.check(width: UInt32(clamping: size[0]), height: UInt32(clamping: size[1]), action)
    } catch {
      isBroken = true
      throw error
    }
  }

  private static func check(width: UInt32, height: UInt32, _ action: String) throws(CodecError) {
    let largest = VideoDecoder.maximumSide
    if width > largest || height > largest {
      throw CodecError(action, "\(width)x\(height) is above \(largest)x\(largest)")
    }
  }
}
